import { acknowledged, delayedOf, grants, hashOf, isSure, keyOf, linesOf } from './checkers/checker.ts';
import type { EventRow, History } from './facts.ts';

/** What a storm must have met at least once, else its zeros say little; and how late things were. */
export interface Seen {
  'leases that ran out': number;
  'late calls refused': number;
  'callbacks sent twice, dropped': number;
  'callbacks delivered more than once': number;
  'unknown, and had happened': number;
  'unknown, and had not': number;
  'decided or withdrawn while held': number;
  'looks decided': number;
  'claims that a quota kept empty': number;
  /** Milliseconds from when a delay was over until a process noticed or somebody got it: p50, p99, the latest. */
  lateMs: [number, number, number];
  /** The life of the latest. */
  latest: string;
}

export function seenIn(history: History): Seen {
  const lines = linesOf(history);
  const items = new Set(history.items.map(({ kind, id }) => keyOf(kind, id)));
  const known = new Set(acknowledged(history, 'ticket.add', 'job.add', 'case.add').map(({ args }) => args.id));
  const unsure = history.ops.filter(
    ({ what, outcome, args }) => outcome === 'unknown' && /^(ticket|job|case)\.add$/.test(what) && !known.has(args.id),
  );
  const happened = unsure.filter(({ what, args }) => items.has(keyOf(what.replace('.add', ''), args.id))).length;
  const ids = history.received.map(({ id }) => id);
  return {
    'leases that ran out': history.events.filter(({ type }) => type === 'reclaimed').length,
    'late calls refused': history.ops.filter(({ outcome, args }) => outcome === 'refused' && args.token !== undefined)
      .length,
    'callbacks sent twice, dropped': history.callbacks.filter(({ outcome }) => outcome === 'duplicate').length,
    'callbacks delivered more than once': ids.length - new Set(ids).size,
    'unknown, and had happened': happened + unknownEffects(history),
    'unknown, and had not': unsure.length - happened,
    'decided or withdrawn while held': withdrawn(history),
    'looks decided': history.items.filter(({ of, state }) => of !== null && state === 'settled').length,
    'claims that a quota kept empty': history.ops.filter(
      ({ what, answer }) => what === 'ticket.claim' && (answer?.reasons?.quota > 0 || answer?.reasons?.exposure > 0),
    ).length,
    ...lateness(history, lines),
  };
}

/** Decisions whose answer was lost though they counted. */
function unknownEffects({ ops, events }: History): number {
  const granted = new Map(events.filter(grants).map((line) => [line.token, line]));
  const ended = new Set(events.map(({ kind, item_id, ends }) => `${kind}/${item_id}/${ends}`));
  return ops.filter(({ outcome, args }) => {
    const grant = outcome === 'unknown' && typeof args.token === 'string' ? granted.get(hashOf(args.token)) : undefined;
    return grant !== undefined && ended.has(`${grant.kind}/${grant.item_id}/${grant.seq}`);
  }).length;
}

const withdrawn = ({ events }: History): number =>
  events.filter(
    ({ kind, type, ends, actor }) =>
      kind === 'ticket' &&
      ends !== null &&
      (type === 'invalidated' || (type === 'decided' && !actor.startsWith('reviewer'))),
  ).length;

function lateness(history: History, lines: ReturnType<typeof linesOf>): Pick<Seen, 'lateMs' | 'latest'> {
  const late = delayedOf(history)
    .flatMap(({ item: { kind, id }, seconds }) => {
      const own = lines.get(keyOf(kind, id)) ?? [];
      const [created, ...rest] = own;
      const due = rest.find((line) => line.type === 'available' || grants(line));
      const sure = created && due && isSure(history.unsure, created.at) && isSure(history.unsure, due.at);
      return sure ? [{ own, ms: Math.max(0, due.at - created.at - seconds * 1000) }] : [];
    })
    .sort((a, b) => a.ms - b.ms);
  const at = (part: number) => Math.round(late[Math.min(late.length - 1, Math.floor(late.length * part))]?.ms ?? 0);
  return { lateMs: [at(0.5), at(0.99), at(1)], latest: lifeOf(late.at(-1)?.own ?? []) };
}

/** What happened to an item, with seconds since it was added. */
function lifeOf(lines: EventRow[]): string {
  const [first] = lines;
  const steps = lines.map(({ type, at }) => `${type} ${((at - (first?.at ?? 0)) / 1000).toFixed(1)}`);
  return first ? `${first.kind}/${first.item_id}: ${steps.join(', ')}` : 'none';
}
