import { setTimeout as sleep } from 'node:timers/promises';
import { openShared } from '../cases/court.ts';
import { GROUP_SIZE, isIdle, membersOf } from './population.ts';
import { changeGroup, changeTask, complete, deleteTask, pull, type Side } from './side.ts';

const CONNECTIONS = 64;
/** Groups that rush side by side; with those who ask twice they have a connection for each call. */
const TOGETHER = 2;
/** One client in so many asks twice at once, as after an answer that didn't come. */
const TWICE_EVERY = 10;
/** Between the changes that are made while a group is at it. */
const PAUSE_MS = 15;
/** How many changes are made to a group that is at it, and how many of its tasks they are of. */
const CHANGES = 6;
const CHANGEABLE = 8;

/** All members of a group pull and complete until nothing is left, while an administrator changes what they pull. */
export async function rush(side: Side, from: number, groups: number, draw: () => number) {
  const use = await openShared(side.url, CONNECTIONS);
  const before = side.ledger.faults().dispatches;
  const start = performance.now();
  let next = from;
  let left = groups;
  const work = async () => {
    while (left > 0) {
      const group = next++;
      if (isIdle(group)) continue;
      left--;
      await oneGroup(side, use, group, draw);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  const seconds = (performance.now() - start) / 1000;
  use.close();
  return { pairs: side.ledger.faults().dispatches - before, seconds };
}

type Use = Awaited<ReturnType<typeof openShared>>;

async function oneGroup(side: Side, use: Use, group: number, draw: () => number): Promise<void> {
  const failures: Error[] = [];
  const going: Promise<unknown>[] = [];
  const come = (uid: string, twice: boolean) =>
    going.push(live(side, use, uid, twice).catch((error: Error) => failures.push(error)));
  const anyTask = () => `t${group}-${Math.floor(draw() * CHANGEABLE)}`;
  for (const [n, uid] of membersOf(group).entries()) come(uid, n % TWICE_EVERY === 0);
  try {
    for (let n = 0; n < CHANGES; n++) {
      await sleep(PAUSE_MS * draw());
      const what = Math.floor(draw() * 3);
      if (what === 0) await use((c) => changeTask(side, c, anyTask(), draw));
      if (what === 1) await use((c) => deleteTask(side, c, anyTask()));
      if (what === 2) come(await use((c) => changeGroup(side, c, group, GROUP_SIZE - 1 - n)), false);
    }
  } finally {
    await Promise.all(going);
  }
  if (failures[0]) throw failures[0];
}

async function live(side: Side, use: Use, uid: string, twice: boolean): Promise<void> {
  for (;;) {
    const given = await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => use((c) => pull(side, c, uid))));
    const logIds = new Set(given.flatMap((answer) => answer?.logId ?? []));
    if (logIds.size === 0) return;
    for (const logId of logIds) await use((c) => complete(side, c, uid, logId));
  }
}
