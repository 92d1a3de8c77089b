import { describe, expect, test } from 'vitest';
import { hashOf } from '../../bench/storm/checkers/checker.ts';
import { CHECKERS } from '../../bench/storm/checkers/index.ts';
import type { EventRow, History } from '../../bench/storm/facts.ts';
import type { Op, Outcome } from '../../bench/storm/journal.ts';
import { type Fault, planOf, shrink, stepOf, withUpdate } from '../../bench/storm/plan.ts';
import { unsureOf } from '../../bench/storm/storm.ts';

// A checker that finds nothing in a bad history would make its zero worth nothing.

const line = (seq: number, type: string, more: Partial<EventRow> = {}): EventRow => ({
  ...{ kind: 'ticket', item_id: 't', no: null, seq, type, actor: 'anna', at: seq * 1_000, token: null, ends: null },
  ...more,
});
const op = (what: string, args: object, outcome: Outcome = 'ok', more: Partial<Op> = {}): Op => ({
  ...{ n: 0, at: 0, until: 1, actor: 'anna', what, args, outcome, status: outcome === 'ok' ? 200 : 409, answer: {} },
  ...more,
});
const token = hashOf('lt_1');
const LOOK = [1, 2, 3].map((seq) => `ticket/l0/${seq}`);
const audit = (callback_id: string, audit_time: number, outcome: string) => ({
  ...{ review_id: 'r', callback_id, kind: 'text' as const, target_id: null, status: audit_time, audit_time, outcome },
});
const dispatch = (slot: string, granted_at: number, more: object = {}) => ({
  ...{ token: slot, kind: 'task', item_id: 'k/1', slot, granted_at, ended_at: granted_at + 1, why: 'settled' },
  ...more,
});

/** One ticket that is decided, one that sleeps and has a look; a case, a review, a task. */
function good(): History {
  const item = { version: 3, body: {}, result: null, delay_seconds: 0, ended_at: 3_000, of: null };
  return {
    items: [
      { ...item, kind: 'ticket', id: 't', queue: 'q', state: 'settled', result: { by: 'anna' }, delay_seconds: 1 },
      { ...item, kind: 'ticket', id: 'z', queue: 'q', state: 'delayed', delay_seconds: 7_200, ended_at: null },
      { ...item, kind: 'case', id: 'c', queue: 'd', state: 'settled', result: {} },
      { ...item, kind: 'ticket', id: 'l0', queue: 'q', state: 'settled', of: 'z' },
      { ...item, kind: 'task', id: 'k/1', queue: 'g', state: 'settled', result: {} },
    ],
    events: [
      line(1, 'created', { actor: 'producer' }),
      line(2, 'claimed', { token }),
      line(3, 'decided', { ends: 2 }),
      line(1, 'created', { item_id: 'z' }),
      line(1, 'created', { item_id: 'l0', actor: 'system' }),
      line(2, 'claimed', { item_id: 'l0', actor: 'reviewer-c3', at: 9_000, token: hashOf('lt_2') }),
      line(3, 'decided', { item_id: 'l0', actor: 'reviewer-c3', at: 9_000, ends: 2 }),
    ],
    leases: [dispatch('ann', 1), dispatch('ben', 1)],
    votes: ['a', 'b', 'e'].map((juror) => ({ token: juror, case_id: 'c', juror, option: 'buyer', counted: true })),
    cases: [{ id: 'c', tally: { buyer: 3, seller: 0 }, winner: 'buyer' }],
    callbacks: [audit('one', 2, 'applied'), audit('two', 1, 'expired'), audit('one', 2, 'duplicate')],
    targets: [{ review_id: 'r', kind: 'text', target_id: '', status: 2 }],
    deliveries: [{ kind: 'ticket', item_id: 't', n: 1, version: 3, state: 'delivered' }],
    counts: [
      { kind: 'ticket', queue: 'q', what: 'settled', n: 2 },
      { kind: 'ticket', queue: 'q', what: 'delayed', n: 1 },
      { kind: 'ticket', queue: 'q', what: 'lease_expired', n: 7 },
      { kind: 'case', queue: 'd', what: 'settled', n: 1 },
      { kind: 'task', queue: 'g', what: 'settled', n: 1 },
    ],
    running: ['ticket/z'],
    began: 0,
    unsure: [],
    ops: [
      ...[
        op('ticket.add', { id: 't', delaySeconds: 1 }),
        op('ticket.add', { id: 'z' }),
        op('case.add', { id: 'c' }),
        op('task.add', { id: 'k' }),
      ],
      op('ticket.decide', { id: 't', token: 'lt_1', decision: { by: 'anna' } }),
      ...['a', 'b', 'e'].map((name) => op('case.votes', { id: 'c', token: name, option: 'buyer' })),
      ...['one', 'two'].map((callbackId) => op('review.callback', { id: 'r', callbackId })),
      op('task.complete', { id: 'k', logId: 'ann' }),
    ],
    feed: ['ticket/t/1', 'ticket/t/2', 'ticket/z/1', 'ticket/t/3', ...LOOK].map((id, n) => ({ seq: n + 1, id })),
    received: [{ at: 1, id: 'w', type: 'ticket.decided', version: 3, item: 'ticket/t' }],
  };
}

/** A ticket, perhaps a look, that is handed to somebody when the others are over. */
function handed(h: History, id: string, actor: string, of: string | null): void {
  h.items.push({ ...(h.items[0] as History['items'][number]), id, of, state: 'held' });
  h.events.push(line(1, 'created', { item_id: id }), line(2, 'claimed', { item_id: id, token: id, actor, at: 9_000 }));
}

/** What makes the good history bad, by the checker that has to find it. */
const BAD: Record<string, Record<string, (h: History) => void>> = {
  'acknowledged and lost': {
    'an added ticket is not there': (h) => h.ops.push(op('ticket.add', { id: 'gone' })),
    'a decision is another one': (h) => Object.assign(h.items[0] ?? {}, { result: { by: 'ben' } }),
    'an invalidation did not happen': (h) => h.ops.push(op('ticket.invalidate', { id: 'z' })),
    'a put over TCP is not there': (h) => h.ops.push(op('tube.put', { mark: 'p' })),
    'a vote is not there': (h) => h.ops.push(op('case.votes', { id: 'c', token: 'x', option: 'seller' })),
    'a callback was never applied': (h) => Object.assign(h.callbacks[1] ?? {}, { outcome: 'pending' }),
    'a completion did not count': (h) => h.ops.push(op('task.complete', { id: 'k', logId: 'other' })),
  },
  unexpected: {
    'an item nobody added': (h) => h.items.push({ ...(h.items[1] as History['items'][0]), id: 'ghost' }),
    'a vote nobody cast': (h) =>
      h.votes.push({ token: 'x', case_id: 'c', juror: 'x', option: 'buyer', counted: false }),
    'a callback nobody sent': (h) => h.callbacks.push(audit('three', 3, 'applied')),
  },
  'held by two': {
    'granted again before its end': (h) => h.events.splice(2, 0, line(3, 'claimed', { token: 'other', ends: null })),
    'two dispatches of one user': (h) => h.leases.push(dispatch('ann', 1, { item_id: 'k/2' })),
  },
  'effects with a dead token': {
    'another lease was ended': (h) => h.ops.push(op('ticket.decide', { id: 't', token: 'lt_0', decision: {} })),
    'refused, and carried out': (h) => h.ops.push(op('ticket.decide', { id: 't', token: 'lt_1' }, 'refused')),
  },
  early: { 'claimed within its delay': (h) => Object.assign(h.events[1] ?? {}, { at: 1_500 }) },
  'votes miscounted': {
    'a tally that is no count': (h) => Object.assign(h.cases[0] ?? {}, { tally: { buyer: 2 } }),
    'a fourth vote for one side': (h) => {
      h.votes.push({ token: 'f', case_id: 'c', juror: 'f', option: 'buyer', counted: true });
      Object.assign(h.cases[0] ?? {}, { tally: { buyer: 4 } });
    },
    'a juror who votes twice': (h) =>
      h.votes.push({ token: 'f', case_id: 'c', juror: 'a', option: 'seller', counted: false }),
    'a winner of an open case': (h) => Object.assign(h.items[2] ?? {}, { state: 'ready' }),
  },
  'looks handed to who decided': {
    'to the first decider': (h) => handed(h, 'l', 'anna', 't'),
    'to the decider of another look': (h) => {
      handed(h, 'l', 'ben', 't');
      h.events.push(line(3, 'decided', { item_id: 'l', actor: 'ben', ends: 2 }));
      handed(h, 'm', 'ben', 't');
    },
    'to another name of the decider': (h) => {
      Object.assign(h.events[2] ?? {}, { actor: 'reviewer-c0' });
      handed(h, 'l', 'reviewer-c1', 't');
    },
    'one that was asked for is not there': (h) =>
      h.ops.push(op('ticket.look', { id: 't' }, 'ok', { answer: { id: 'l' } })),
  },
  'quotas exceeded': {
    'too many in a day, by two names': (h) => {
      for (let n = 0; n <= 12; n++) handed(h, `q${n}`, `reviewer-c${n % 2}`, null);
    },
    'too many violent ones': (h) => {
      for (let n = 0; n <= 2; n++) {
        handed(h, `v${n}`, 'reviewer-c5', null);
        h.ops.push(op('ticket.add', { id: `v${n}`, category: 'violent' }));
      }
    },
  },
  'stock overdrawn': {
    'three at once': (h) => h.leases.push(dispatch('cem', 1)),
    'completed twice by one': (h) => Object.assign(h.leases[1] ?? {}, { slot: 'ann' }),
  },
  'reviews beside the oracle': {
    'an older one was applied': (h) => Object.assign(h.callbacks[1] ?? {}, { outcome: 'applied' }),
    'another status shows': (h) => Object.assign(h.targets[0] ?? {}, { status: 1 }),
  },
  'feed: gaps, repeats, order': {
    'a gap': (h) => h.feed.splice(0, 4, ...h.feed.map((f, n) => ({ ...f, seq: n < 2 ? n + 1 : n + 2 }))),
    'a repeat': (h) => h.feed.push({ seq: 5, id: 'ticket/t/1' }),
    'out of order': (h) => h.feed.splice(0, 4, ...h.feed.toReversed().map((f, n) => ({ ...f, seq: n + 1 }))),
    'a line left out': (h) => h.feed.pop(),
  },
  'log: gaps, after the end': {
    'a line left out': (h) => h.events.splice(1, 1),
    'claimed after its end': (h) => h.events.splice(3, 0, line(4, 'claimed', { token })),
  },
  'callbacks missing or out of order': {
    'never came': (h) => h.received.pop(),
    'still pending': (h) => Object.assign(h.deliveries[0] ?? {}, { state: 'pending' }),
    'an older one later': (h) => h.received.push({ ...(h.received[0] as History['received'][0]), version: 2 }),
  },
  'workflows missing or left over': {
    'an open item without one': (h) => h.running.pop(),
    'one of an item that is over': (h) => h.running.push('ticket/t'),
  },
  'counts beside rows': {
    'a number that is no count': (h) => Object.assign(h.counts[0] ?? {}, { n: 3 }),
    'rows without a number': (h) => h.counts.pop(),
    'a number without rows': (h) => h.counts.push({ kind: 'job', queue: 'q', what: 'ready', n: 1 }),
  },
  'not brought to an end': { 'one that waits': (h) => Object.assign(h.items[0] ?? {}, { state: 'ready' }) },
  'answers 5xx but 503': { 'a 500': (h) => h.ops.push(op('ticket.claim', {}, 'unknown', { status: 500 })) },
};

test('S0.9 in a good history no checker finds anything, and each has looked at something', () => {
  for (const [name, check] of Object.entries(CHECKERS)) {
    const { of, found } = check(good());
    expect(found, name).toEqual([]);
    expect(of, name).toBeGreaterThan(0);
  }
});

test('every checker has bad histories', () => {
  expect(Object.keys(BAD).sort()).toEqual(Object.keys(CHECKERS).sort());
});

test('S0.9 what was done while the database’s clock was off is not put in order by its times', () => {
  const history = good();
  history.leases.push(dispatch('ann', 1, { item_id: 'k/2', ended_at: 5_000 }), dispatch('ann', 3, { item_id: 'k/3' }));
  expect(CHECKERS['held by two']?.(history).found).toHaveLength(2);
  BAD.early?.['claimed within its delay']?.(history);
  expect(CHECKERS.early?.(history).found).toHaveLength(1);
  history.ops.push(op('ticket.decide', { id: 't', token: 'lt_1' }, 'refused', { at: 1_500, until: 1_550 }));
  expect(CHECKERS['effects with a dead token']?.(history).found).toHaveLength(1);
  history.unsure.push([4_000, 6_000], [1_400, 1_600]);
  expect(CHECKERS['held by two']?.(history).found).toEqual([]);
  expect(CHECKERS.early?.(history).found).toEqual([]);
  expect(CHECKERS['effects with a dead token']?.(history).found).toEqual([]);
});

describe.each(Object.entries(BAD))('S0.9 %s', (name, histories) => {
  test.each(Object.entries(histories))('%s', (_, spoil) => {
    const history = good();
    spoil(history);
    expect(CHECKERS[name]?.(history).found.length).toBeGreaterThan(0);
  });
});

test('a seed has the same faults each time, and another seed has others', () => {
  expect(planOf(7, 10, 1)).toEqual(planOf(7, 10, 1));
  expect(planOf(8, 10, 1)).not.toEqual(planOf(7, 10, 1));
});

test('ten minutes of a fault a second have each sort of fault, and none after the end', () => {
  const plan = planOf(7, 10, 1);
  expect(plan.length).toBeGreaterThan(450);
  expect(plan.every(({ at }) => at < 600_000)).toBe(true);
  const sorts = new Set(plan.map(({ what, target }) => `${what} ${target.replace(/-\d.*/, '')}`));
  for (const sort of [
    'kill api',
    'kill worker',
    'kill postgres',
    'kill temporal',
    'kill backend',
    'pause api',
    'clock worker',
  ])
    expect(sorts).toContain(sort);
});

test('a storm that begins with an earlier release has one update, in its middle', () => {
  const updates = withUpdate(planOf(7, 10, 1), 10).filter(({ what }) => what === 'update');
  expect(updates.map(({ at }) => at)).toEqual([300_000]);
});

test('a plan that fails by two of its faults is shrunk to these two', async () => {
  const plan = planOf(3, 2, 1);
  const [one, other] = [plan[10], plan[plan.length - 3]] as [Fault, Fault];
  const left = await shrink(plan, async (some) => some.includes(one) && some.includes(other));
  expect(left).toEqual([one, other]);
});

test('S0.9 a step of the database’s clock is known by what was planned, whenever it was made', () => {
  const planned: Fault = { at: 1_000, what: 'clock', target: 'postgres', ms: 2_002 };
  expect(stepOf(planned)).toBe(20);
  const made = { ...planned, at: 1_003, until: 3_005 };
  const [[from = 0, to = 0] = []] = unsureOf({ faults: [made], epoch: 100_000 });
  expect(from).toBeLessThan(101_003);
  expect(to).toBeGreaterThan(103_005 + 20_000);
});
