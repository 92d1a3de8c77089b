import { describe, expect, test } from 'vitest';
import { KINDS } from '../../contract/kinds.ts';
import { isFinal } from '../../domain/items.ts';
import { kindOf } from '../../domain/kinds.ts';
import { statesAfter, transitionsOf } from '../../domain/lifecycle.ts';
import { lifecycleText } from '../../scripts/lifecycle.ts';
import { unknownAmong } from '../support/lifecycle.ts';

describe.each(KINDS)('a %s', (kind) => {
  const all = transitionsOf(kind);

  test('comes to each of its states from its creation', () => {
    const reached = new Set<string>(['none']);
    for (const _ of all) for (const t of all) if (reached.has(t.from)) reached.add(t.to);
    expect([...reached].sort()).toEqual([...new Set(all.map((t) => t.from))].sort());
  });

  test('can end from each state, and is left alone or reopened where it has ended', () => {
    for (const from of new Set(all.map((t) => t.from))) {
      const moves = all.filter((t) => t.from === from && t.to !== from);
      if (from === 'none' || !isFinal(from)) expect(moves.length, from).toBeGreaterThan(0);
      else if (!kindOf(kind).workflow.reopens) expect(moves, from).toEqual([]);
    }
  });

  test('has quiet events that there are', () => {
    const events = new Set(all.map((t) => t.event));
    for (const event of kindOf(kind).quiet) expect(events).toContain(event);
  });
});

test('an event leads to the states of the table, and to none where it cannot happen', () => {
  expect(statesAfter('ticket', 'held', 'released')).toEqual(['ready', 'delayed']);
  expect(statesAfter('ticket', 'ready', 'claimed')).toEqual(['held']);
  expect(statesAfter('ticket', 'settled', 'claimed')).toEqual([]);
  expect(statesAfter('rotation', 'expired', 'changed')).toEqual(['delayed']);
});

test('a transition outside of the table is found, and so is a state that changes without an event', () => {
  const seen = [
    { kind: 'ticket', from: 'ready', event: 'claimed', to: 'held' },
    { kind: 'ticket', from: 'settled', event: 'claimed', to: 'held' },
    { kind: 'job', from: 'held', event: '', to: 'ready' },
  ] as const;
  expect(unknownAmong([...seen])).toEqual(['ticket: settled —claimed→ held', 'job: held —(no event)→ ready']);
});

test('the diagrams have an arrow for each change of state', () => {
  const text = lifecycleText();
  expect(text).toContain('  held --> waiting: released, skipped, reclaimed, transferred\n');
  expect(text).toContain('  [*] --> active: created\n');
  expect(text).toContain('  ended --> active: changed\n');
});
