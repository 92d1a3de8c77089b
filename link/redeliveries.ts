import type { Client } from '@temporalio/client';
import type { Driven } from '../contract/snapshot.ts';
import { TASK_QUEUE } from './publisher.ts';

/** Starts the workflow that makes a delivery again (S0.10). */
export const startRedelivery = (
  client: Client,
  kind: Driven,
  id: string,
  n: number,
  workflowIdConflictPolicy: 'TERMINATE_EXISTING' | 'USE_EXISTING',
) =>
  client.workflow.start('redelivery', {
    workflowId: `delivery/${kind}/${id}/${n}`,
    taskQueue: TASK_QUEUE,
    args: [kind, id, n],
    workflowIdConflictPolicy,
  });
