import { setTimeout as sleep } from 'node:timers/promises';
import { type Caller, need, openCallers } from '../client.ts';
import { dice } from '../dice.ts';
import { type Child, cpuSeconds, drained, type Lab } from '../lab.ts';
import { wallClock } from '../measure.ts';
import type { Report } from '../report.ts';
import { until } from '../scenarios/steady.ts';
import { median, ms, quantile, short } from '../stats.ts';
import { type BenchTask, GROUP_SIZE, inParallel, sentTask } from './population.ts';

/** Not all waits end at once. */
const WAIT_SECONDS = { least: 40, most: 60 };
const IDLE_SECONDS = 10;
const MOST_MS = 50;
/** How far apart those are that fall due alone. */
const APART_MS = 150;
/** So many are added and their workflows told per second, at least; that shall be over before they are due. */
const TOLD_PER_SECOND = 25;
const AHEAD_MS = 6_000;
const SETTLE_MS = 3_000;
const GONE_MS = 2_000;
/** How long a client is at what he got. */
const WORK_MS = 5_000;

/** Clients that wait in their groups' lines, and what they received. */
interface Crowd {
  /** When each task was received, in milliseconds of the database's clock. */
  got: Map<string, number>;
  leave(): Promise<void>;
}

/** Tasks that fall due while many clients wait for them (S4.3, S4.6). */
export async function waiting(lab: Lab, report: Report, { url, api }: { url: string; api: Child }): Promise<void> {
  const [clients, singles, together] = lab.quick ? [400, 30, 100] : [2_000, 100, 500];
  const groups = clients / GROUP_SIZE;
  const gid = (n: number) => `wait-${n % groups}`;
  const uid = (n: number) => `w${n}`;
  await inParallel(url, groups, async (caller, n) => {
    const members = Array.from({ length: GROUP_SIZE }, (_, k) => uid(n * GROUP_SIZE + k));
    need(await caller.put(`/v1/groups/${gid(n)}`, { members }), 200);
  });
  const clock = await databaseClock(lab);
  const crowd = await gather(
    url,
    Array.from({ length: clients }, (_, n) => uid(n)),
    clock,
  );
  try {
    const what = `${clients.toLocaleString('en-US')} clients wait`;
    const before = cpuSeconds(api.pid);
    await sleep(IDLE_SECONDS * 1000);
    const share = (100 * (cpuSeconds(api.pid) - before)) / IDLE_SECONDS;
    report.add({ what: `${what}; nothing falls due: CPU of the API process`, figure: `${short(share)} % of a core` });
    const task = (id: string, n: number, due: number): BenchTask => ({
      ...{ id, group: 0, executor: `gid_${gid(n)}`, dispatch: 'each-once', dispatchTimes: 1 },
      ...{ startTime: new Date(Math.round(due)), params: { revision: 0, place: id } },
    });
    const round = (name: string, n: number, everyMs: number) =>
      fallDue(lab, url, crowd, clock, n, (k, start) => task(`${name}-${k}`, k, start + k * everyMs));
    const alone = await round('alone', singles, APART_MS);
    report.add({
      what: `${what}; ${singles} tasks, each due alone: from due to received`,
      figure: figureOf(alone),
      measured: { value: quantile(alone.received, 0.99), unit: 'ms' },
      target: { most: MOST_MS },
    });
    report.add({
      what: `${what}; ${together} tasks due in one second: from due to received`,
      figure: figureOf(await round('together', together, 1000 / together)),
    });
  } finally {
    await crowd.leave();
  }
}

interface Lateness {
  /** By the `available` event. */
  byClock: number[];
  received: number[];
  /** Seconds between the telling of all workflows and the first that was due; negative: it was not over by then. */
  toldBefore: number;
}

/** Adds tasks, has their workflows told, and waits until each has been received. */
async function fallDue(
  lab: Lab,
  url: string,
  { got }: Crowd,
  clock: () => number,
  n: number,
  make: (n: number, start: number) => BenchTask,
): Promise<Lateness> {
  const start = Math.ceil(clock() + AHEAD_MS + (n / TOLD_PER_SECOND) * 1000);
  const tasks = Array.from({ length: n }, (_, k) => make(k, start));
  await inParallel(url, n, async (caller, k) => {
    need(await caller.post('/v1/tasks', sentTask(tasks[k] as BenchTask)), 201);
  });
  if (clock() > start) throw new Error(`${n} tasks were not added before they were due`);
  await drained(lab);
  const toldBefore = (start - clock()) / 1000;
  await sleep(Math.max(0, start - clock()));
  await until(async () => tasks.every(({ id }) => got.has(id)), 120);
  const rows = await lab.sql<{ late: number }>(
    `select extract(epoch from e.at - i.available_at)::double precision * 1000 as late
       from item i join event e on e.kind = i.kind and e.item_id = i.id and e.type = 'available'
      where i.kind = 'task' and split_part(i.id, '/', 1) = any ($1)`,
    [tasks.map(({ id }) => id)],
  );
  const received = tasks.map(({ id, startTime }) => (got.get(id) ?? Number.NaN) - startTime.getTime());
  const byClock = rows.map((row) => row.late);
  if (rows.length !== n || Math.min(...byClock) < 0) throw new Error('a task was early, or not told of');
  return { byClock, received, toldBefore };
}

/** Everybody waits, is at what he gets for a while, completes it and waits again. */
async function gather(url: string, uids: string[], clock: () => number): Promise<Crowd> {
  const callers = await openCallers(url, uids.length);
  const got = new Map<string, number>();
  let failed: Error | undefined;
  let left = false;
  const draw = dice(uids.length);
  const { least, most } = WAIT_SECONDS;
  const live = async (caller: Caller, uid: string) => {
    for (;;) {
      const waitSeconds = least + draw() * (most - least);
      const answer = need(await caller.post(`/v1/clients/${uid}/next`, { waitSeconds }), 200);
      const now = clock();
      if (!answer.task) continue;
      if (!answer.redo) got.set(answer.task.id, now);
      await sleep(WORK_MS);
      if (left) return;
      need(await caller.post(`/v1/clients/${uid}/complete`, { logId: answer.logId }), 200);
    }
  };
  callers.forEach((caller, n) => {
    live(caller, uids[n] ?? '').catch((error: Error) => {
      failed ??= error;
    });
  });
  await sleep(SETTLE_MS);
  return {
    got,
    async leave() {
      left = true;
      for (const caller of callers) caller.close();
      // a server that is stopped before it has seen them go has a last look for each
      await sleep(GONE_MS);
      if (failed) throw failed;
    },
  };
}

/** The database's clock as it is known here, by the quickest of some questions. */
async function databaseClock(lab: Lab): Promise<() => number> {
  let best = { took: Number.POSITIVE_INFINITY, ahead: 0 };
  for (let n = 0; n < 20; n++) {
    const before = wallClock();
    const [row] = await lab.sql<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::double precision * 1000 as ms',
    );
    const after = wallClock();
    if (after - before < best.took) best = { took: after - before, ahead: (row?.ms ?? 0) - (before + after) / 2 };
  }
  return () => wallClock() + best.ahead;
}

const figureOf = ({ byClock, received, toldBefore }: Lateness) =>
  `p50 ${ms(median(received))}, p99 ${ms(quantile(received, 0.99))}, at most ${ms(Math.max(...received))}; of that by the database’s clock p99 ${ms(quantile(byClock, 0.99))}${toldBefore < 0 ? `; telling of their start went on for ${short(-toldBefore)} s after it` : ''}`;
