import type { WorkflowHandle } from '@temporalio/client';
import type { Awaited } from '../../contract/snapshot.ts';
import { TASK_QUEUE } from '../../runtime/followers/publisher.ts';
import { eventually } from '../support/client.ts';
import type { TestSystem } from '../support/system.ts';
import { add } from '../support/tickets.ts';
import { type Path, path } from './paths.ts';

const workflowId = (id: string) => `awaiting/ticket/${id}/caller`;

/** The workflow of a caller's wait for a ticket, as a Nexus operation starts it. */
async function waiting(
  { api, sql, running }: TestSystem,
  id: string,
  onCancel: Awaited['onCancel'],
): Promise<WorkflowHandle> {
  const { version } = await add(api, id, { id });
  await sql(`insert into wait (workflow_id, kind, item_id, run) values ($1, 'ticket', $2, 1)`, [workflowId(id), id]);
  const awaited: Awaited = { kind: 'ticket', id, run: 1, version, onCancel, actor: 'nexus/shop' };
  const { workflow } = running.runtime.client;
  const handle = await workflow.start('awaiting', {
    workflowId: workflowId(id),
    taskQueue: TASK_QUEUE,
    args: [awaited],
  });
  // its first look is over
  await eventually(async () => (await handle.fetchHistory()).events?.some((e) => e.markerRecordedEventAttributes));
  return handle;
}

const resolve = ({ api }: TestSystem, id: string) =>
  api.post(`/v1/tickets/${id}/resolve`, { decision: 'yes', reason: 'elsewhere' });

/** Ways a caller's wait can go. */
export const waitingPaths: Path[] = [
  path('awaiting-decided', { workflowId }, async (s, id) => {
    const handle = await waiting(s, id, 'leave');
    await handle.signal('ended');
    await resolve(s, id);
    await handle.result();
  }),
  path('awaiting-left', { workflowId }, async (s, id) => {
    const handle = await waiting(s, id, 'leave');
    await handle.cancel();
    await handle.result().catch(() => {});
  }),
  path('awaiting-withdrawn', { workflowId }, async (s, id) => {
    const handle = await waiting(s, id, 'withdraw');
    await handle.cancel();
    await handle.result();
  }),
];
