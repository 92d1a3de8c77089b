import type { Json } from '../support/client.ts';

export interface Sent {
  callbackId: string;
  kind: 'text' | 'picture' | 'reply';
  targetId?: string;
  status: number;
  auditTime: string;
}

/**
 * What must become of callbacks in the order in which they came: the newest audit time of a target wins, of
 * equal ones the later arrival; a name that has come before is a duplicate.
 */
export function oracle(initial: Map<string, number>, arrived: Sent[]) {
  const targets = new Map([...initial].map(([key, status]) => [key, { status, auditTime: '' }]));
  const names = new Set<string>();
  const outcomes = arrived.map(({ callbackId, kind, targetId, status, auditTime }) => {
    const repeated = names.has(callbackId);
    names.add(callbackId);
    const key = `${kind}/${targetId ?? ''}`;
    if (repeated) return 'duplicate';
    if (auditTime < (targets.get(key)?.auditTime ?? '')) return 'expired';
    targets.set(key, { status, auditTime });
    return 'applied';
  });
  return { outcomes, targets };
}

/** The same shape from a review as the API shows it. */
export function targetsOf(review: Json): Map<string, { status: number; auditTime: string }> {
  const parts = (kind: string, all: Json[]) => all.map((p) => [`${kind}/${p.id}`, p]);
  const entries: Json[] = [
    ['text/', review.text],
    ...parts('picture', review.pictures),
    ...parts('reply', review.replies),
  ];
  return new Map(entries.map(([key, p]) => [key, { status: p.status, auditTime: p.auditTime ?? '' }]));
}
