import { expect, test } from 'vitest';
import { parseRetention, retentionOf } from '../../domain/retention.ts';

test('S4.10 a number is of tasks; a list is by kind and by queue', () => {
  const tasks = parseRetention('30');
  expect([
    retentionOf(tasks, 'task', 'uid_ann'),
    retentionOf(tasks, 'ticket', 'q'),
    retentionOf(tasks, 'review'),
  ]).toEqual([30, null, null]);
  const rules = parseRetention('ticket=365, ticket/spam=1.5,ticket/legal=forever,job/a/b=7,review=36500');
  expect(retentionOf(rules, 'ticket', 'q')).toBe(365);
  expect(retentionOf(rules, 'ticket', 'spam')).toBe(1.5);
  expect(retentionOf(rules, 'ticket', 'legal')).toBeNull();
  expect(retentionOf(rules, 'job', 'a/b')).toBe(7);
  expect(retentionOf(rules, 'job', 'a')).toBeNull();
  expect(retentionOf(rules, 'review')).toBe(36_500);
  expect(retentionOf(rules, 'task', 'uid_ann')).toBe(730);
  expect(retentionOf(parseRetention('task=forever'), 'task', 'uid_ann')).toBeNull();
});

test.each([
  '',
  '0',
  'never',
  '0.5',
  'ticket',
  'ticket=',
  'ticket=0',
  'tickets=5',
  'review/q=5',
  'rotation=5',
  'ticket=5,',
  '36501',
  'ticket=1e9',
])('S4.10 %j is refused', (text) => {
  expect(() => parseRetention(text)).toThrow(/^must be a number from 1 to 36500, or days by kind or queue/);
});
