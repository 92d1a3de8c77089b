import { ActivityFailure, proxyActivities } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/deliveries.ts';
import type { Driven } from '../contract/snapshot.ts';

/**
 * Calls to receivers, on a task queue of their own, so that slow receivers delay nothing else. The activity sets the
 * delay of each retry, after a call and while it waits for a slot. Temporal's own interval, which counts both as
 * attempts, is for a worker that died.
 */
export const receivers = proxyActivities<DeliveryActivities>({
  taskQueue: 'docket-deliver',
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '3d',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '30s' },
});
/** Records of deliveries. */
export const bookkeeping = proxyActivities<DeliveryActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/** Sends one delivery again on request (S0.10). Id `delivery/<kind>/<id>/<n>`. */
export async function redelivery(kind: Driven, id: string, n: number): Promise<void> {
  try {
    await receivers.deliver(kind, id, n);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    await bookkeeping.giveUpDelivery(kind, id, n);
  }
}
