import { setTimeout as sleep } from 'node:timers/promises';
import { forgetUnpublished, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { until } from '../scenarios/steady.ts';
import { ms, quantile, short } from '../stats.ts';
import { gidOf, type Population, seedTasks, toBe } from './population.ts';

const EVERY_MINUTES = 60;
/** So many are seeded per second, at least, and then Docket has to start. */
const SEEDED_PER_SECOND = 500;
const START_SECONDS = 15;
const MADE = "select count(*)::integer as n from item where kind = 'task' and id > 'turn' and id < 'turo'";

/** Rotating tasks that all fall due at one instant (S4.2). */
export async function rotations(lab: Lab, report: Report, { groups }: Population): Promise<void> {
  const n = lab.quick ? 1_000 : 10_000;
  const due = new Date(Date.now() + (START_SECONDS + n / SEEDED_PER_SECOND) * 1000);
  const tasks = Array.from({ length: n }, (_, k) =>
    toBe({
      ...{ id: `turn-${k}`, executor: `gid_${gidOf(k % groups)}`, type: 'rotate', everyMinutes: EVERY_MINUTES },
      ...{ startTime: due, dispatch: 'each-once', dispatchTimes: 1, params: { revision: 0, place: `turn ${k}` } },
    }),
  );
  await seedTasks(lab, tasks);
  const docket = await lab.docket();
  try {
    if (Date.now() > due.getTime()) throw new Error(`${n} rotating tasks were there too late`);
    await sleep(due.getTime() - Date.now());
    const made = async () => (await lab.sql<{ n: number }>(MADE))[0]?.n ?? 0;
    await until(async () => (await made()) >= n);
    const seen = Date.now() - due.getTime();
    const rows = await lab.sql<{ late: number }>(
      `select extract(epoch from e.at - $1::timestamptz)::double precision * 1000 as late from event e
        where e.kind = 'task' and e.item_id > 'turn' and e.item_id < 'turo' and e.type = 'created'`,
      [due],
    );
    const late = rows.map((row) => row.late);
    if (late.length !== n || Math.min(...late) < 0)
      throw new Error(`${late.length} occurrences of ${n}, or early ones`);
    report.add({
      what: `${n.toLocaleString('en-US')} rotating tasks due at once: from due to the occurrence`,
      figure: `p50 ${ms(quantile(late, 0.5))}, p99 ${ms(quantile(late, 0.99))}, at most ${ms(Math.max(...late))}; all are to be seen after ${short(seen / 1000)} s (${short(n / (seen / 1000))}/s)`,
    });
  } finally {
    await docket.stop();
    await forgetUnpublished(lab);
  }
}
