import type { Client } from '@temporalio/client';
import type { Driven } from '../contract/snapshot.ts';
import { TASK_QUEUE } from '../runtime/outbox/publisher.ts';

/**
 * Starts the workflow that makes one delivery.
 * @param ifRunning what becomes of one that is at this delivery already
 * @throws when Temporal cannot be reached
 */
export const startDelivery = (
  client: Client,
  kind: Driven,
  id: string,
  n: number,
  ifRunning: 'TERMINATE_EXISTING' | 'USE_EXISTING',
) =>
  client.workflow.start('redelivery', {
    workflowId: `delivery/${kind}/${id}/${n}`,
    taskQueue: TASK_QUEUE,
    args: [kind, id, n],
    workflowIdConflictPolicy: ifRunning,
  });
