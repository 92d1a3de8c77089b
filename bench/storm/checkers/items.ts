import type { EventRow, ItemRow, LeaseRow } from '../facts.ts';
import type { Op } from '../journal.ts';
import { MEMBERS } from '../kinds/tasks.ts';
import { ASLEEP_SECONDS } from '../kinds/tickets.ts';
import {
  acknowledged,
  type Checker,
  delayedOf,
  FINAL,
  grants,
  groupBy,
  hashOf,
  isSure,
  itemsOf,
  keyOf,
  linesOf,
  markOf,
  nameOf,
  timedLeases,
  verdict,
} from './checker.ts';

const ADDS = ['ticket.add', 'job.add', 'case.add'];
/** The item of a call; over TCP jobs are in tubes. */
const itemOf = ({ what, args }: Op): string => keyOf(what.replace(/\..*/, '').replace('tube', 'job'), args.id);

/** What must have become of an item after a call that was acknowledged. */
type Effect = (item: ItemRow, op: Op) => boolean;
const isDecided: Effect = ({ state, result }, { args }) =>
  state === 'settled' && JSON.stringify(result) === JSON.stringify(args.decision);
const isInvalid: Effect = ({ state }) => state === 'invalidated';
const isFinished: Effect = ({ state }) => state === 'settled';
const isDeleted: Effect = (item, op) => isInvalid(item, op) || isFinished(item, op);
const EFFECTS: Record<string, Effect> = {
  ...{ 'ticket.decide': isDecided, 'ticket.resolve': isDecided, 'ticket.invalidate': isInvalid },
  ...{ 'job.finish': isFinished, 'job.delete': isDeleted, 'tube.delete': isDeleted, 'case.invalidate': isInvalid },
};

/** What was acknowledged and is not there. */
export const lost: Checker = (history) => {
  const items = itemsOf(history);
  const marks = new Set(history.items.map(markOf));
  const votes = new Set(history.votes.map(({ token, option }) => `${token} ${option}`));
  const callbacks = new Set(
    history.callbacks.filter((c) => c.outcome !== 'pending').map((c) => `${c.review_id} ${c.callback_id}`),
  );
  const completed = new Set(history.leases.filter(({ why }) => why === 'settled').map(({ token }) => token));
  const isThere = (op: Op): boolean => {
    const { what, args } = op;
    if (ADDS.includes(what)) return items.has(itemOf(op));
    if (what === 'tube.put') return marks.has(args.mark);
    if (what === 'case.votes') return votes.has(`${args.token} ${args.option}`);
    if (what === 'review.callback') return callbacks.has(`${args.id} ${args.callbackId}`);
    if (what === 'task.complete') return completed.has(args.logId);
    const item = items.get(itemOf(op));
    return item !== undefined && EFFECTS[what]?.(item, op) === true;
  };
  const others = ['tube.put', 'case.votes', 'review.callback', 'task.complete'];
  const ops = acknowledged(history, ...ADDS, ...Object.keys(EFFECTS), ...others);
  return verdict(
    ops.length,
    ...ops.map((op) => !isThere(op) && `${op.what} ${JSON.stringify(op.args)} (call ${op.n}) was acknowledged`),
  );
};

/** What is there though no client asked for it. */
export const unexpected: Checker = ({ ops, items, votes, callbacks }) => {
  const asked = new Set<string>();
  for (const op of ops) {
    const { what, args } = op;
    if (ADDS.includes(what) || what === 'task.add') asked.add(itemOf(op));
    if (what === 'tube.put') asked.add(keyOf('mark', args.mark));
    if (what === 'case.votes') asked.add(keyOf('vote', args.token));
    if (what === 'review.callback') asked.add(keyOf('callback', `${args.id}/${args.callbackId}`));
  }
  return verdict(
    items.length + votes.length + callbacks.length,
    ...items.map(
      (item) =>
        !asked.has(nameOf(item.of === null ? item : { ...item, id: item.of })) &&
        `${item.kind} ${item.id} was not added`,
    ),
    ...votes.map((v) => !asked.has(keyOf('vote', v.token)) && `vote of ${v.juror} on ${v.case_id} was not cast`),
    ...callbacks.map(
      (c) =>
        c.kind !== 'edit' &&
        !asked.has(keyOf('callback', `${c.review_id}/${c.callback_id}`)) &&
        `callback ${c.callback_id} was not sent`,
    ),
  );
};

/** An item of one holder that is handed out before its last lease has ended; a person or a place with two leases at once. */
export const heldByTwo: Checker = (history) => {
  const found: string[] = [];
  let of = 0;
  for (const [key, lines] of linesOf(history)) {
    let live: EventRow | undefined;
    for (const line of lines) {
      if (line.ends !== null && line.ends === live?.seq) live = undefined;
      if (!grants(line)) continue;
      of++;
      if (live) found.push(`${key}: line ${line.seq} grants it while that of line ${live.seq} is live`);
      live = line;
    }
  }
  const last = new Map<string, LeaseRow>();
  for (const lease of timedLeases(history)) {
    of++;
    // jurors hold one case of a court, and users have one dispatch, at a time
    const person = keyOf(lease.kind, lease.slot);
    const before = last.get(person);
    if (before && (before.ended_at === null || before.ended_at > lease.granted_at))
      found.push(`${person} has ${spanOf(lease)} while ${spanOf(before)} is theirs`);
    last.set(person, lease);
  }
  return { of, found };
};

/** A lease with its times. */
function spanOf({ item_id, granted_at, ended_at, why }: LeaseRow): string {
  const at = (ms: number) => new Date(ms).toISOString().slice(11, 23);
  return `${item_id} (${at(granted_at)} to ${ended_at === null ? 'now' : at(ended_at)}, ${why})`;
}

/** Lines of the log by which each call with a token may have its effect. */
const BY_TOKEN: Record<string, string[]> = {
  ...{ 'ticket.decide': ['decided'], 'ticket.release': ['released', 'skipped'] },
  ...{ 'job.finish': ['finished'], 'job.release': ['released'], 'job.bury': ['buried'] },
};

/** Sent again, these answer as they did the first time; others may be refused for what has happened since. */
const REPEATABLE = new Set(['ticket.decide', 'job.finish']);

/**
 * A call with a token is acknowledged if and only if it ended the lease that this token stands for. Where the database's
 * clock was ahead, what had run out for one call may be live for the next.
 */
export const deadTokens: Checker = (history) => {
  const lines = linesOf(history);
  const ops = history.ops.filter(({ what, outcome }) => what in BY_TOKEN && outcome !== 'unknown');
  const endsIts = (op: Op): boolean => {
    const types = BY_TOKEN[op.what] ?? [];
    const own = lines.get(itemOf(op)) ?? [];
    // what an operator decides meanwhile is a line of the same type
    const by = ({ kind, actor }: EventRow) => kind === 'job' || actor === op.actor;
    const token = hashOf(op.args.token);
    const grant = own.find((line) => grants(line) && line.token === token);
    return grant !== undefined && own.some((line) => line.ends === grant.seq && types.includes(line.type) && by(line));
  };
  const tried = new Map<string, number>();
  const isFirst = ({ what, args, n }: Op) => n === tried.get(`${what} ${args.token}`);
  for (const { what, args, n } of history.ops.toReversed()) tried.set(`${what} ${args.token}`, n);
  return verdict(
    ops.length,
    ...ops.map((op) => {
      const effect = endsIts(op);
      if (op.outcome === 'ok' && !effect)
        return `${op.what} of ${op.args.id} was acknowledged with a token that was not live (call ${op.n})`;
      const isTimed = [op.at, op.until ?? op.at].every((ms) => isSure(history.unsure, history.began + ms));
      const counts = isTimed && (REPEATABLE.has(op.what) || isFirst(op));
      return (
        op.outcome === 'refused' &&
        counts &&
        effect &&
        `${op.what} of ${op.args.id} was refused, and carried out (call ${op.n})`
      );
    }),
  );
};

/** An item handed out before its delay was over. Those that were kicked do not wait for it. */
export const early: Checker = (history) => {
  const lines = linesOf(history);
  const delayed = delayedOf(history).flatMap(({ item: { kind, id }, seconds }) => {
    const own = lines.get(keyOf(kind, id)) ?? [];
    const first = own.find(grants);
    const [created] = own;
    const isKicked = own.some(({ type, seq }) => type === 'kicked' && seq < (first?.seq ?? 0));
    const sure = first && created && isSure(history.unsure, created.at) && isSure(history.unsure, first.at);
    return sure && !isKicked ? [{ kind, id, seconds, first, created }] : [];
  });
  return verdict(
    delayed.length,
    ...delayed.map(({ kind, id, seconds, first, created }) => {
      const ms = first.at - (created.at + seconds * 1000);
      // times of the database have microseconds, these milliseconds
      return ms < -1 && `${kind} ${id} was handed out ${-ms} ms early`;
    }),
  );
};

/** What could be brought to its end, and was not. */
export const stuck: Checker = ({ items, leases }) => {
  const had = groupBy(leases, ({ item_id }) => item_id);
  // handed to all members of its group, some of whom did not answer
  const isUsedUp = ({ kind, id }: ItemRow) => kind === 'task' && (had.get(id)?.length ?? 0) >= MEMBERS;
  const due = items.filter((item) => item.delay_seconds < ASLEEP_SECONDS && !isUsedUp(item));
  return verdict(due.length, ...due.map(({ kind, id, state }) => !FINAL.has(state) && `${kind} ${id} is ${state}`));
};

/** Answers that mean a fault of the server, whatever the caller sent. */
export const internal: Checker = ({ ops }) =>
  verdict(
    ops.length,
    ...ops.map(
      ({ what, status, answer, n }) =>
        status >= 500 && status !== 503 && `${what}: ${status} ${JSON.stringify(answer)} (call ${n})`,
    ),
  );
