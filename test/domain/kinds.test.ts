import { describe, expect, test } from 'vitest';
import { KINDS } from '../../contract/kinds.ts';
import { coreState, stateWord } from '../../domain/items.ts';
import { isItem, isQuiet, kindOf, workflowId, workflowOf } from '../../domain/kinds.ts';
import { transitionsOf } from '../../domain/lifecycle.ts';

describe.each(KINDS)('a %s', (kind) => {
  test('has one word for each state of its lifecycle and for no other, and the word leads back to it', () => {
    const states = [...new Set(transitionsOf(kind).map((t) => t.to))];
    expect(Object.keys(kindOf(kind).words).sort()).toEqual([...states].sort());
    const words = states.map((state) => stateWord(kind, state));
    expect(new Set(words).size).toBe(states.length);
    expect(words.map((word) => coreState(kind, word))).toEqual(states);
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
  expect(frees({ last_event: 'dispatched', room: 3 })).toBe(0);
  expect(frees({ last_event: 'completed', room: 3 })).toBe(0);
  expect(frees({ last_event: 'returned', room: 3 })).toBe(3);
  expect(frees({ last_event: 'changed', room: null })).toBe(0);
  expect(kindOf('ticket').frees({ last_event: 'reclaimed', room: null })).toBe(1);
});

test('a claim is quiet, a decision is not', () => {
  expect(isQuiet({ kind: 'ticket', last_event: 'claimed' })).toBe(true);
  expect(isQuiet({ kind: 'ticket', last_event: 'decided' })).toBe(false);
});
