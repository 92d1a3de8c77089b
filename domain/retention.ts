import { KEPT_KINDS } from '../contract/kinds.ts';

type KeptKind = (typeof KEPT_KINDS)[number];

const LEAST_DAYS = 1;
const MOST_DAYS = 36_500;
/** Tasks are the only kind that is cleared by default (S4.10). */
const TASK_DAYS = 730;
const FORM =
  `must be a number from ${LEAST_DAYS} to ${MOST_DAYS}, or days by kind or queue, separated by commas ` +
  '(task=730,ticket=365,ticket/spam=30,ticket/legal=forever)';

/** Days by kind, or by kind and queue as `ticket/spam`; null: for ever. */
export type RetentionRules = ReadonlyMap<string, number | null>;

/**
 * Reads for how long ended items are kept: days for tasks alone, or for each kind or queue that is named. Reviews have no
 * queues.
 * @throws Error with the fault, without the name of the setting or the value
 */
export function parseRetention(text: string): RetentionRules {
  const rules = new Map<string, number | null>([['task', TASK_DAYS]]);
  if (!text.includes('=')) return rules.set('task', daysIn(text));
  for (const entry of text.split(',')) {
    const [, kind = '', queue, days = ''] = /^\s*([a-z]+)(?:\/(.+))?=([^=]+)$/.exec(entry) ?? [];
    if (!isKept(kind) || (kind === 'review' && queue !== undefined)) throw new Error(FORM);
    rules.set(queue === undefined ? kind : `${kind}/${queue}`, days.trim() === 'forever' ? null : daysIn(days));
  }
  return rules;
}

/** How long a queue's items are kept after their end, in days; null: for ever. */
export function retentionOf(rules: RetentionRules, kind: string, queue?: string): number | null {
  const own = rules.get(`${kind}/${queue}`);
  return (own === undefined ? rules.get(kind) : own) ?? null;
}

export const kindsCleared = (rules: RetentionRules): string[] => {
  const some = [...rules].filter(([, days]) => days !== null).map(([name]) => name.replace(/\/.*/, ''));
  return [...new Set(some)].filter((kind) => kind !== 'review');
};

const isKept = (kind: string): kind is KeptKind => (KEPT_KINDS as readonly string[]).includes(kind);

function daysIn(text: string): number {
  const days = text.trim() === '' ? Number.NaN : Number(text);
  if (!(days >= LEAST_DAYS && days <= MOST_DAYS)) throw new Error(FORM);
  return days;
}
