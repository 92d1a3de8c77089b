import { describe, expect, test } from 'vitest';
import { KINDS } from '../../contract/kinds.ts';
import { AuditCallback } from '../../contract/reviews.ts';
import { coreState, isFinal, stateWord } from '../../domain/items.ts';
import { isItem, isQuiet, kindOf, workflowId, workflowOf } from '../../domain/kinds.ts';
import { transitionsOf } from '../../domain/lifecycle.ts';
import { parseRetention, retentionOf } from '../../domain/retention.ts';
import { statusOf } from '../../domain/reviews.ts';
import { spanOf } from '../../domain/spans.ts';
import { lifecycleText } from '../../scripts/lifecycle.ts';

describe.each(KINDS)('a %s', (kind) => {
  const all = transitionsOf(kind);

  test('has one word for each state of its lifecycle and for no other, and the word leads back to it', () => {
    const states = [...new Set(all.map((t) => t.to))];
    expect(Object.keys(kindOf(kind).words).sort()).toEqual([...states].sort());
    const words = states.map((state) => stateWord(kind, state));
    expect(new Set(words).size).toBe(states.length);
    expect(words.map((word) => coreState(kind, word))).toEqual(states);
  });

  test('comes to each of its states from its creation', () => {
    const reached = new Set<string>(['none']);
    for (const _ of all) for (const t of all) if (reached.has(t.from)) reached.add(t.to);
    expect([...reached].sort()).toEqual([...new Set(all.map((t) => t.from))].sort());
  });

  test('can end from each state, and is left alone or reopened where it has ended', () => {
    for (const from of new Set(all.map((t) => t.from))) {
      const moves = all.filter((t) => t.from === from && t.to !== from);
      if (from === 'none' || !isFinal(from)) expect(moves.length, from).toBeGreaterThan(0);
      // a job's next run
      else if (!kindOf(kind).workflow.reopens)
        expect(
          moves.filter(({ event }) => event !== 'created'),
          from,
        ).toEqual([]);
    }
  });

  test('has quiet events that there are', () => {
    const events = new Set(all.map((t) => t.event));
    for (const event of kindOf(kind).quiet) expect(events).toContain(event);
  });
});

test('workflows have a type and an id by their kind, and reviews are none of the items', () => {
  expect(KINDS.map((kind) => workflowOf(kind).type)).toEqual(['ticket', 'job', 'courtCase', 'task', 'rotation']);
  expect(workflowOf('review')).toEqual({ type: 'review', reopens: true, urgent: true });
  expect(workflowId({ kind: 'task', id: 'a/2026-01-02T03:04:05.678Z' })).toBe('task/a/2026-01-02T03:04:05.678Z');
  expect([isItem('review'), ...KINDS.map(isItem)]).toEqual([false, true, true, true, true, true]);
});

test('a dispatch frees nobody who waits; what comes back to stock frees as many as it has capacity for', () => {
  const { frees } = kindOf('task');
  expect(frees({ last_event: 'dispatched', capacity: 3 })).toBe(0);
  expect(frees({ last_event: 'completed', capacity: 3 })).toBe(0);
  expect(frees({ last_event: 'returned', capacity: 3 })).toBe(3);
  expect(frees({ last_event: 'changed', capacity: null })).toBe(0);
  expect(kindOf('ticket').frees({ last_event: 'reclaimed', capacity: null })).toBe(1);
});

test('a claim is quiet, a decision is not', () => {
  expect(isQuiet({ kind: 'ticket', last_event: 'claimed' })).toBe(true);
  expect(isQuiet({ kind: 'ticket', last_event: 'decided' })).toBe(false);
});

test('an event leads to the states of the table, and to none where it cannot happen', () => {
  const ticket = transitionsOf('ticket').map(({ from, event, to }) => `${from} ${event} ${to}`);
  expect(ticket.filter((t) => t.startsWith('held released'))).toEqual(['held released ready', 'held released delayed']);
  expect(ticket.filter((t) => / claimed /.test(t))).toEqual(['ready claimed held']);
});

test('the diagrams have an arrow for each change of state', () => {
  const text = lifecycleText();
  expect(text).toContain('  held --> waiting: released, skipped, reclaimed, transferred\n');
  expect(text).toContain('  [*] --> active: created\n');
  expect(text).toContain('  ended --> active: changed\n');
});

test('S4.10 a number is of tasks; a list is by kind and by queue', () => {
  const tasks = parseRetention('30');
  const rules = parseRetention('ticket=365, ticket/spam=1.5,ticket/legal=forever,job/a/b=7,review=36500');
  for (const [list, kind, queue, days] of [
    [tasks, 'task', 'uid_ann', 30],
    [tasks, 'ticket', 'q', null],
    [tasks, 'review', undefined, null],
    [rules, 'ticket', 'q', 365],
    [rules, 'ticket', 'spam', 1.5],
    [rules, 'ticket', 'legal', null],
    [rules, 'job', 'a/b', 7],
    [rules, 'job', 'a', null],
    [rules, 'review', undefined, 36_500],
    [rules, 'task', 'uid_ann', 730],
    [parseRetention('task=forever'), 'task', 'uid_ann', null],
  ] as const)
    expect(retentionOf(list, kind, queue), `${kind}/${queue}`).toBe(days);
});

test.each([
  ...['', '0', 'never', '0.5', 'ticket', 'ticket=', 'ticket=0', 'tickets=5', 'review/q=5', 'rotation=5'],
  ...['ticket=5,', '36501', 'ticket=1e9'],
])('S4.10 %j is refused', (text) => {
  expect(() => parseRetention(text)).toThrow(/^must be a number from 1 to 36500, or days by kind or queue/);
});

test.each([-2_147_483_649, -2_147_483_648, -1, 0, 2_147_483_647, 2_147_483_648, 1.5, '1', null])(
  'S1.1 a decision takes the status %s where an audit callback takes it',
  (status) => {
    const { success } = AuditCallback.shape.status.safeParse(status);
    expect(statusOf({ status })).toBe(success ? status : undefined);
  },
);

test('times for people have their two largest units', () => {
  const said = [0, 0.4, 59, 60, 227, 3_600, 3_605, 5_940, 5_999, 90_000, 1_000_000].map(spanOf);
  const [none, minutes, hours, days] = ['0 s', ['1 min', '3 min 47 s'], ['1 h', '1 h', '1 h 39 min'], ['1 d 1 h']];
  expect(said).toEqual([none, none, '59 s', ...minutes, ...hours, '1 h 39 min', ...days, '11 d 13 h']);
});
