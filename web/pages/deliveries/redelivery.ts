import type { Schemas } from '../../api/client.ts';
import { limited } from '../../api/limited.ts';
import { redeliver } from '../item/deliveries.tsx';

interface Redelivered {
  started: number;
  failed: number;
  /** Of one that could not be started. */
  why: unknown;
}

const AT_ONCE = 4;

/** Sends several again, a few at a time; one that cannot be started does not keep the others. */
export async function redeliverAll(all: Schemas['ListedDelivery'][]): Promise<Redelivered> {
  const inTurn = limited(AT_ONCE);
  const calls = all.map(({ kind, itemId, n }) => inTurn(() => redeliver(kind, itemId, n)));
  const outcomes = await Promise.allSettled(calls);
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  return { started: all.length - failures.length, failed: failures.length, why: failures[0]?.reason };
}
