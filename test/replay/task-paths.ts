import { eventually } from '../support/client.ts';
import type { TestSystem } from '../support/system.ts';
import { addTask, addTemplate, completed, handed } from '../support/tasks.ts';
import { HOUR_MS, inMs } from '../support/times.ts';
import { type Path, path } from './paths.ts';

/** Where the occurrence of a path lies: its workflow is named after it. */
const starts = new Map<string, string>();
const workflowId = (id: string) => `task/${id}/${starts.get(id)}`;
const rotationId = (id: string) => `rotation/${id}`;

const handle = (s: TestSystem, id: string) => s.running.runtime.client.workflow.getHandle(id);
const status = (s: TestSystem, id: string, wanted: string) =>
  eventually(async () => (await handle(s, id).describe()).status.name === wanted, 60_000);

async function task(s: TestSystem, id: string, startTime: string, more: object = {}): Promise<void> {
  await addTemplate(s.api, 'plain');
  starts.set(id, startTime);
  await addTask(s.api, { id, startTime, executor: `uid_${id}`, ...more });
}

/** Ways a task's workflows can go. */
export const taskPaths: Path[] = [
  path('task-completed', { workflowId }, async (s, id) => {
    await task(s, id, inMs(1_000));
    await status(s, workflowId(id), 'RUNNING');
    await completed(s.api, id, (await handed(s.api, id, { waitSeconds: 20 })).logId);
    await status(s, workflowId(id), 'COMPLETED');
  }),
  path('task-durable-timers', { pacemaker: 'off', workflowId }, async (s, id) => {
    await task(s, id, inMs(1_000), { answerSeconds: 1, maxLookbackSeconds: 4 });
    await handed(s.api, id, { waitSeconds: 20 });
    await status(s, workflowId(id), 'COMPLETED');
  }),
  path('task-cancelled-by-signal', { workflowId }, async (s, id) => {
    await task(s, id, inMs(HOUR_MS));
    await status(s, workflowId(id), 'RUNNING');
    await handle(s, workflowId(id)).signal('cancel', { reason: 'never mind', by: 'olga' });
    await status(s, workflowId(id), 'COMPLETED');
  }),
  path('rotation-ended', { pacemaker: 'off', workflowId: rotationId }, async (s, id) => {
    await task(s, id, inMs(-57_000), { type: 'rotate', everyMinutes: 1, endTime: inMs(20_000) });
    await status(s, rotationId(id), 'COMPLETED');
  }),
  path('rotation-cancelled', { workflowId: rotationId }, async (s, id) => {
    await task(s, id, inMs(-HOUR_MS), { type: 'rotate', everyMinutes: 60 });
    await status(s, rotationId(id), 'RUNNING');
    await handle(s, rotationId(id)).cancel();
    await status(s, rotationId(id), 'COMPLETED');
  }),
];
