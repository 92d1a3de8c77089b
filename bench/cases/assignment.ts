import { openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { until } from '../scenarios/steady.ts';
import { short } from '../stats.ts';
import { bring, makeCourt, numbered, putList } from './court.ts';

const COURT = 'assigned';
const INVITED = 20;
/** What the article's batch took at best: 0.8 h for 3,000 cases. */
const THEIR_SECONDS_A_CASE = (0.8 * 3_600) / 3_000;

const LIVE =
  "select count(*)::integer as n from lease where kind = 'case' and queue = $1 and invited and ended_at is null";

/** A day's cases at once: how long until each has its invitations (S2.1, S2.9). */
export async function assignment(lab: Lab, report: Report, url: string): Promise<void> {
  const [cases, jurors] = lab.quick ? [150, 5_000] : [3_000, 100_000];
  const callers = await openCallers(url, 1);
  const [caller] = callers;
  if (!caller) throw new Error('no caller');
  try {
    await makeCourt(caller, COURT, {
      // as many may hold a case as are invited: nine votes that can change it, and eleven more
      ...{ votesToWin: 9, overbook: INVITED - 9 },
      ...{ mode: 'assign', assign: { jurors: INVITED, answerSeconds: 86_400 } },
    });
    const listed = await seconds(() => putList(caller, COURT, numbered(jurors, 'citizen-')));
    report.add({ what: `a list of ${jurors.toLocaleString('en-US')} jurors`, figure: `${short(listed)} s` });
    await lab.sql('analyze juror');
    const took = await seconds(async () => {
      await bring(caller, COURT, numbered(cases, 'batch-'));
      await until(async () => (await lab.sql<{ n: number }>(LIVE, [COURT]))[0]?.n === cases * INVITED, 3_600);
    });
    await mustBeEven(lab, cases);
    report.add({
      what: `${cases.toLocaleString('en-US')} cases, ${INVITED} invitations each`,
      figure: `${short(took)} s (${short((cases * INVITED) / took)} invitations/s)`,
      rival: `the article’s batch: 1–2 s a case, 0.8–1.6 h for 3,000; ratio to its best`,
      ratio: (cases * THEIR_SECONDS_A_CASE) / took,
    });
  } finally {
    caller.close();
  }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** @throws unless each case has its jurors, and each of them another one */
async function mustBeEven(lab: Lab, cases: number): Promise<void> {
  const [row] = await lab.sql<{ cases: number; people: number; least: number; most: number }>(
    `select count(*)::integer as cases, sum(n)::integer as people, min(n)::integer as least, max(n)::integer as most
       from (select item_id, count(distinct slot) as n from lease
              where kind = 'case' and queue = $1 and ended_at is null group by item_id) s`,
    [COURT],
  );
  if (row?.cases !== cases || row.least !== INVITED || row.most !== INVITED)
    throw new Error(`invited unevenly: ${JSON.stringify(row)}`);
}
