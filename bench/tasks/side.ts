import { setTimeout as sleep } from 'node:timers/promises';
import { type Caller, need, openCallers } from '../client.ts';
import { type Answer, Ledger } from './ledger.ts';
import { DISPATCH_TIMES, GROUP_SIZE, gidOf, isIdle, membersOf, type Population } from './population.ts';

/** Less for some tasks, more for others. */
const CHANGED_TIMES = [DISPATCH_TIMES / 2, DISPATCH_TIMES * 2];

/** One of the two that are measured, and what it did so far. Both understand the same calls. */
export interface Side {
  url: string;
  ledger: Ledger;
  /** How a completion that comes too late is refused; Docket has no reason to refuse any. */
  refusals: number[];
}

export const openSide = (population: Population, refusals: number[]): Side => ({
  ...{ url: '', refusals },
  ledger: new Ledger(population.tasks),
});

/** @returns the task that this user now has; null: there is none for him */
export async function pull({ ledger }: Side, caller: Caller, uid: string): Promise<Answer | null> {
  const sentAt = performance.now();
  const answer = need(await caller.post(`/v1/clients/${uid}/next`, {}), 200);
  if (!answer.task) return null;
  ledger.handed(uid, answer, sentAt);
  return answer;
}

export async function complete({ ledger, refusals }: Side, caller: Caller, uid: string, logId: string): Promise<void> {
  ledger.finishing(uid, logId);
  need(await caller.post(`/v1/clients/${uid}/complete`, { logId, result: 'done' }), 200, ...refusals);
}

/** Another limit and other params, for what has not been dispatched. */
export async function changeTask({ ledger }: Side, caller: Caller, id: string, draw: () => number): Promise<void> {
  if (!ledger.untouched(id)) return;
  const dispatchTimes = CHANGED_TIMES[draw() < 0.5 ? 0 : 1] ?? DISPATCH_TIMES;
  const params = { revision: 1, place: 'another one' };
  need(await caller.patch(`/v1/tasks/${id}`, { dispatchTimes, params }), 200);
  ledger.changed(id, dispatchTimes, params.revision);
}

export async function deleteTask({ ledger }: Side, caller: Caller, id: string): Promise<void> {
  if (!ledger.untouched(id)) return;
  need(await caller.delete(`/v1/tasks/${id}`), 200);
  ledger.deleted(id);
}

/** One leaves a group, another comes. */
export async function changeGroup({ ledger }: Side, caller: Caller, group: number, n: number): Promise<string> {
  const [leaves = '', comes] = [membersOf(group)[n % GROUP_SIZE], `new-${group}-${n}`];
  need(await caller.post(`/v1/groups/${gidOf(group)}/members`, { add: [comes], remove: [leaves] }), 200);
  ledger.left(leaves, group);
  return comes;
}

/** An administrator who changes something so often, anywhere. @returns what ends it */
export async function administer(side: Side, { groups }: Population, everyMs: number, draw: () => number) {
  let stopped = false;
  const loop = async () => {
    for (let n = 0; !stopped; n++) {
      const group = Math.floor(draw() * groups);
      const task = `t${group}-${Math.floor(draw() * (GROUP_SIZE / 4))}`;
      await sleep(everyMs);
      if (isIdle(group)) continue;
      // for each change anew: a server may close what is idle for as long as others keep it busy
      const [caller] = (await openCallers(side.url, 1)) as [Caller];
      if (n % 3 === 0) await changeGroup(side, caller, group, n);
      if (n % 3 === 1) await changeTask(side, caller, task, draw);
      if (n % 3 === 2) await deleteTask(side, caller, task);
      caller.close();
    }
  };
  let failed: Error | undefined;
  const done = loop().catch((error: Error) => {
    failed = error;
  });
  return async () => {
    stopped = true;
    await done;
    if (failed) throw failed;
  };
}
