import type { DeliveryRow, EventRow } from '../facts.ts';
import { type Checker, countBy, FINAL, groupBy, keyOf, linesOf, verdict } from './checker.ts';

const idOf = ({ kind, item_id, no, seq }: EventRow) => [kind, item_id, ...(no === null ? [] : [no]), seq].join('/');

/** A reader of the feed has every line of the log once, without a gap, each item's in order (S4.8). */
export const feed: Checker = (history) => {
  const found: string[] = [];
  const last = new Map<string, number>();
  const read = new Set<string>();
  const known = new Map(history.events.map((event) => [idOf(event), event]));
  history.feed.forEach(({ seq, id }, n) => {
    if (seq !== n + 1) found.push(`position ${n + 1} of the feed is read as ${seq}`);
    if (read.has(id)) found.push(`the feed has ${id} twice`);
    read.add(id);
    const line = known.get(id);
    if (!line) {
      found.push(`the feed has ${id}, and the log does not`);
      return;
    }
    const item = keyOf(line.kind, line.item_id);
    if (line.seq <= (last.get(item) ?? -1)) found.push(`the feed has ${id} behind line ${last.get(item)}`);
    last.set(item, line.seq);
  });
  found.push(...[...known.keys()].filter((id) => !read.has(id)).map((id) => `the feed lacks ${id}`));
  return { of: history.events.length, found };
};

/** An item's lines are numbered without a gap, and none comes after its end but those about its callback and its looks. */
const BY_LOOKS = ['upheld', 'overturned', 'look_ended'];
const AFTER_END = new Set(['delivered', 'delivery_failed', 'refused', 'noted', 'erased', ...BY_LOOKS]);
export const log: Checker = (history) => {
  const found: string[] = [];
  const ended = new Set(['decided', 'invalidated', 'expired', 'dead', 'finished', 'deleted']);
  for (const [key, lines] of linesOf(history)) {
    let over = false;
    // reviews begin with 0: their numbers are those of their log
    const first = key.startsWith('review/') ? 0 : 1;
    lines.forEach(({ seq, type, kind }, n) => {
      if (seq !== n + first) found.push(`${key}: line ${n + first} is ${seq}`);
      // a job's next run
      if (type === 'created') over = false;
      if (over && !AFTER_END.has(type)) found.push(`${key} is ${type} after its end`);
      over ||= (kind === 'ticket' || kind === 'job') && ended.has(type);
    });
  }
  return { of: history.events.length, found };
};

/**
 * Each outcome reached its receiver at least once, and of one item no older version came for the first time after a newer one;
 * but what looks come to waits for no callback of before.
 */
export const callbacks: Checker = ({ deliveries, received, items }) => {
  const byItem = [...groupBy(received, ({ item }) => item)];
  // in the order in which each came for the first time
  const versions = new Map(byItem.map(([item, all]) => [item, [...new Set(all.map(({ version }) => version))]]));
  const lookedAt = new Set(items.map(({ of }) => of && keyOf('ticket', of)));
  const itemOf = ({ kind, item_id }: DeliveryRow) => keyOf(kind, item_id);
  return verdict(
    deliveries.length,
    ...deliveries.map((d) => d.state !== 'delivered' && `delivery ${d.n} of ${itemOf(d)} is ${d.state}`),
    ...deliveries.map(
      (d) => !versions.get(itemOf(d))?.includes(d.version) && `version ${d.version} of ${itemOf(d)} never came`,
    ),
    ...[...versions].map(
      ([item, seen]) =>
        !lookedAt.has(item) && seen.some((v, n) => v < (seen[n - 1] ?? 0)) && `${item} came as versions ${seen}`,
    ),
  );
};

/** Every open item has its workflow, and none runs for an item that is over. */
export const workflows: Checker = ({ items, running }) => {
  const open = new Set(running);
  return verdict(
    items.length,
    ...items.map(({ kind, id, state }) => {
      const has = open.has(`${kind}/${id}`);
      if (FINAL.has(state)) return has && `${kind} ${id} is ${state}, and its workflow runs`;
      return !has && `${kind} ${id} is ${state}, and has no workflow`;
    }),
  );
};

const KINDS = new Set(['ticket', 'job', 'case', 'task', 'rotation']);
const STATES = new Set([...FINAL, 'delayed', 'ready', 'held', 'buried']);

/** The numbers that the product keeps are those of its rows. */
export const counts: Checker = ({ items, counts: kept }) => {
  const real = countBy(items, ({ kind, queue, state }) => `${kind}/${queue}/${state}`);
  // the others are numbers of events, not of rows
  const ofRows = kept.filter(({ kind, what }) => KINDS.has(kind) && STATES.has(what));
  const counted = Object.fromEntries(ofRows.map((c) => [`${c.kind}/${c.queue}/${c.what}`, c.n]));
  const keys = Object.keys({ ...real, ...counted });
  return verdict(
    keys.length,
    ...keys.map((key) => real[key] !== counted[key] && `${key}: ${real[key] ?? 0} rows, counted ${counted[key] ?? 0}`),
  );
};
