import { type Caller, need, openCallers } from '../client.ts';
import { dice } from '../dice.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { median, ms, quantile, repeat, short, type Timed } from '../stats.ts';
import { GROUP_SIZE, gidOf, isIdle, membersOf, type Population, uidOf } from './population.ts';

const CONCURRENCY = [16, 64];
const ASK_SECONDS = 60;
/** Each of these has had all that his group has open. */
const VETERANS = 64;

/** Pulls that find nothing, and how many clients that ask once a minute one node can serve (S4.6). */
export async function emptyPulls(
  lab: Lab,
  report: Report,
  { url }: { url: string },
  { groups }: Population,
): Promise<void> {
  const idle = Array.from({ length: groups }, (_, n) => n).filter(isIdle);
  const waiting = idle.flatMap((group) => membersOf(group));
  await measure(lab, report, url, 'nothing is due', waiting);
  // the last groups, which no rush has emptied: one member of each takes all he can get
  const others = Array.from({ length: groups }, (_, n) => groups - 1 - n).filter((group) => !isIdle(group));
  const veterans = others.slice(0, VETERANS).map((group) => uidOf(group * GROUP_SIZE + 1));
  const left = await haveAll(url, veterans);
  const open = await openOf(lab, others.slice(0, VETERANS));
  await measure(
    lab,
    report,
    url,
    `what is due is for others: ${short(left)} had, ${short(open)} open for each`,
    veterans,
  );
}

async function measure(lab: Lab, report: Report, url: string, why: string, uids: string[]): Promise<void> {
  const [rounds, seconds] = lab.quick ? [1, 2] : [3, 2];
  const draw = dice(uids.length);
  await round(url, 16, 1, uids, draw);
  const turns = new Map<number, Timed[]>(CONCURRENCY.map((n) => [n, []]));
  for (let done = 0; done < rounds; done++)
    for (const n of CONCURRENCY) turns.get(n)?.push(await round(url, n, seconds, uids, draw));
  for (const n of CONCURRENCY) {
    const all = turns.get(n) ?? [];
    const rate = median(all.map((t) => t.rate));
    const p = (q: number) => ms(median(all.map((t) => quantile(t.took, q))));
    report.add({
      what: `empty pulls, ${n} callers; ${why}`,
      figure: `${short(rate)}/s (p50 ${p(0.5)}, p99 ${p(0.99)}): ${short(rate * ASK_SECONDS)} clients that ask once a minute`,
    });
  }
}

async function round(url: string, n: number, seconds: number, uids: string[], draw: () => number): Promise<Timed> {
  const callers = await openCallers(url, n);
  const timed = await repeat(
    callers.map((caller, k) => async (took) => {
      // no one is at two callers at once
      const uid = uids[k + n * Math.floor(draw() * Math.floor(uids.length / n))];
      const start = performance.now();
      const { task } = need(await caller.post(`/v1/clients/${uid}/next`, {}), 200);
      took.push(performance.now() - start);
      if (task) throw new Error(`there was something for ${uid}`);
      return true;
    }),
    seconds,
  );
  for (const caller of callers) caller.close();
  return timed;
}

/** Each pulls and completes until there is nothing for him. @returns how many each had in the mean */
async function haveAll(url: string, uids: string[]): Promise<number> {
  const callers = await openCallers(url, uids.length);
  let had = 0;
  const work = async (uid: string, n: number) => {
    const caller = callers[n] as Caller;
    for (;;) {
      const { task, logId } = need(await caller.post(`/v1/clients/${uid}/next`, {}), 200);
      if (!task) return;
      need(await caller.post(`/v1/clients/${uid}/complete`, { logId }), 200);
      had++;
    }
  };
  await Promise.all(uids.map(work));
  for (const caller of callers) caller.close();
  return had / uids.length;
}

/** How many tasks with stock these groups have in the mean. */
async function openOf(lab: Lab, groups: number[]): Promise<number> {
  const [row] = await lab.sql<{ n: number }>(
    "select count(*)::integer as n from item where kind = 'task' and queue = any ($1) and state = 'ready' and capacity > 0",
    [groups.map((group) => `gid_${gidOf(group)}`)],
  );
  return (row?.n ?? 0) / groups.length;
}
