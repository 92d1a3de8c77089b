import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../../test/support/client.ts';
import type { Workload } from '../workload.ts';

const GROUPS = ['gid_north', 'gid_south'] as const;
/** Of a group. Each may get an occurrence once, so that it ends with the last of them, answered or not. */
export const MEMBERS = 12;
const ANSWER_SECONDS = 4;
export const DISPATCH_TIMES = 2;
const TEMPLATE = 'storm-template';

/** Tasks: handed to members of a group, each at most once, completed, left unanswered, completed too late (S4). */
export async function tasks(w: Workload): Promise<void> {
  const template = { id: TEMPLATE, name: 'Look at it', params: { A: { type: 'string' } } };
  await w.insist('operator', 'template.add', {}, 'POST /v1/templates', template);
  for (const gid of GROUPS) {
    const members = Array.from({ length: MEMBERS }, (_, n) => `uid_${gid.slice(4)}_${n}`);
    await w.insist('operator', 'group.put', {}, `PUT /v1/groups/${gid}`, { members });
    for (const uid of members) w.repeat(() => serve(w, uid));
  }
  w.produce(1.5, () => add(w));
}

async function add(w: Workload): Promise<void> {
  const id = w.name('k');
  const startTime = new Date(Date.now() + (w.chance(0.5) ? w.roll() * 5_000 : 0)).toISOString();
  const body = {
    ...{ id, type: 'once', executor: w.pick(GROUPS), startTime, templateId: TEMPLATE, params: { A: id } },
    ...{ dispatchTimes: DISPATCH_TIMES, answerSeconds: ANSWER_SECONDS },
  };
  await w.insist('operator', 'task.add', { id }, 'POST /v1/tasks', body);
}

async function serve(w: Workload, uid: string): Promise<boolean> {
  const next = await w.call(uid, 'task.next', {}, `POST /v1/clients/${uid}/next`, { waitSeconds: 1 });
  if (next.outcome !== 'ok' || !next.answer.task) return false;
  const { task, logId }: Json = next.answer;
  const path = w.draining ? 0 : w.roll();
  await sleep(w.roll() * 300);
  if (path > 0.9) await sleep(ANSWER_SECONDS * 1000 * (0.8 + w.roll()));
  if (path > 0.96) return true;
  const body = { logId, result: { by: uid } };
  const args = { id: task.id, occurrence: task.occurrence, ...body };
  await w.insist(uid, 'task.complete', args, `POST /v1/clients/${uid}/complete`, body);
  return true;
}
