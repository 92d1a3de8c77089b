import { oracle, type Sent } from '../../../test/reviews/oracle.ts';
import type { CallbackRow, LeaseRow } from '../facts.ts';
import { VOTES_TO_WIN } from '../kinds/cases.ts';
import { DISPATCH_TIMES } from '../kinds/tasks.ts';
import { type Checker, countBy, groupBy, itemsOf, keyOf, timedLeases } from './checker.ts';

/** Votes counted anew: the tally, the winner, no more than it takes, one of each juror. */
export const votes: Checker = (history) => {
  const items = itemsOf(history);
  const found: string[] = [];
  for (const { id, tally, winner } of history.cases) {
    const own = history.votes.filter((vote) => vote.case_id === id);
    const counted = countBy(
      own.filter((vote) => vote.counted),
      ({ option }) => option,
    );
    const shown = Object.fromEntries(Object.entries(tally).filter(([, n]) => n > 0));
    if (JSON.stringify(sorted(counted)) !== JSON.stringify(sorted(shown)))
      found.push(`case ${id}: its votes are ${JSON.stringify(counted)}, its tally ${JSON.stringify(tally)}`);
    const most = Math.max(0, ...Object.values(counted));
    if (most > VOTES_TO_WIN) found.push(`case ${id} has ${most} votes for one side`);
    const state = items.get(keyOf('case', id))?.state;
    if ((state === 'settled') !== (winner !== null) || (winner !== null && counted[winner] !== VOTES_TO_WIN))
      found.push(`case ${id} is ${state}, won by ${winner} with ${counted[winner ?? '']}`);
    if (new Set(own.map(({ juror }) => juror)).size < own.length) found.push(`case ${id}: a juror has voted twice`);
  }
  return { of: history.votes.length, found };
};

const sorted = (counts: Record<string, number>) => Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));

/** Dispatches of an occurrence: at no time more than it may have, and none completed twice by one user. */
export const stock: Checker = (history) => {
  const of = history.leases.filter(({ kind }) => kind === 'task');
  const byItem = groupBy(of, ({ item_id }) => item_id);
  const found: string[] = [];
  for (const [id, own] of byItem) {
    const most = mostAtOnce(timedLeases({ leases: own, unsure: history.unsure }));
    if (most > DISPATCH_TIMES) found.push(`task ${id} was out ${most} times at once`);
    const completed = own.filter(({ why }) => why === 'settled').map(({ slot }) => slot);
    if (new Set(completed).size < completed.length) found.push(`task ${id} was completed twice by one user`);
  }
  return { of: of.length, found };
};

/** What is completed stays taken. */
function mostAtOnce(leases: LeaseRow[]): number {
  const steps = leases.flatMap(({ granted_at, ended_at, why }) => [
    { at: granted_at, by: 1 },
    ...(ended_at !== null && why !== 'settled' ? [{ at: ended_at, by: -1 }] : []),
  ]);
  // one that ends in the same millisecond made room for the other
  steps.sort((a, b) => a.at - b.at || a.by - b.by);
  let [now, most] = [0, 0];
  for (const { by } of steps) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** Outcomes and statuses of reviews, beside an oracle that has seen the callbacks in the order of their arrival. */
export const reviews: Checker = ({ callbacks, targets }) => {
  const found: string[] = [];
  const shown = groupBy(targets, ({ review_id }) => review_id);
  for (const [id, own] of groupBy(callbacks, ({ review_id }) => review_id)) {
    const told = own.filter(({ kind }) => kind !== 'edit');
    const now = new Map((shown.get(id) ?? []).map((t) => [keyOf(t.kind, t.target_id), t.status]));
    const before = new Map([...now.keys()].map((key) => [key, 1]));
    const expected = oracle(before, told.map(sentOf));
    told.forEach((c, n) => {
      if (c.outcome !== expected.outcomes[n])
        found.push(`callback ${c.callback_id} of ${id} is ${c.outcome}, not ${expected.outcomes[n]}`);
    });
    for (const [key, { status }] of expected.targets)
      if (now.get(key) !== status) found.push(`review ${id}: ${key} is ${now.get(key)}, not ${status}`);
  }
  return { of: callbacks.length, found };
};

const sentOf = ({ callback_id, kind, target_id, status, audit_time }: CallbackRow): Sent => ({
  ...{ callbackId: callback_id, kind: kind as Sent['kind'], targetId: target_id ?? '', status },
  // as text, times of one length are in order
  auditTime: new Date(audit_time).toISOString(),
});
