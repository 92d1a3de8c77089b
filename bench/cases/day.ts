import { setTimeout as sleep } from 'node:timers/promises';
import { need } from '../client.ts';
import { dice } from '../dice.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { short } from '../stats.ts';
import { bring, makeCourt, numbered, openShared, opinion, putList, type Shared } from './court.ts';

const HOURS = 24;
/** Jurors still come this many hours after the last case. */
const AFTER = 24;
const CONNECTIONS = 32;
/** How busy an hour is, from midnight on, for those who bring cases and for those who judge them. */
const PROFILE = [3, 2, 1, 1, 1, 2, 4, 6, 8, 9, 10, 10, 11, 10, 9, 9, 9, 10, 12, 14, 15, 14, 10, 6];
const SUMS = PROFILE.map((_, n) => PROFILE.slice(0, n + 1).reduce((sum, one) => sum + one, 0));
/** A visit ends after so many cases. */
const MOST_A_VISIT = 3;
/** Hours that a juror reads. */
const READ = { least: 0.03, most: 0.1 };
const LEASE_HOURS = 1;
const ANSWER_HOURS = 2;
const DEADLINE_HOURS = 24;

interface Size {
  cases: number;
  jurors: number;
  visits: number;
  /** Real seconds of an hour. */
  hour: number;
}

type Visit = { at: number; juror: string; draw: () => number };
/** What a juror finds to judge: by asking, or because he was asked. */
type Find = (juror: string) => Promise<{ id: string; token: string } | null>;

/** A day of arrivals and of jurors who come and go, once with claims and once with invitations (S2.9). */
export async function day(lab: Lab, report: Report, url: string): Promise<void> {
  const size = lab.quick
    ? { cases: 24, jurors: 300, visits: 1_800, hour: 1.5 }
    : { cases: 80, jurors: 1_000, visits: 6_000, hour: 2.5 };
  const use = await openShared(url, CONNECTIONS);
  try {
    for (const mode of ['claim', 'assign']) await oneDay(lab, report, use, mode, size);
  } finally {
    use.close();
  }
}

async function oneDay(lab: Lab, report: Report, use: Shared, mode: string, size: Size): Promise<void> {
  const { hour, cases, visits } = size;
  const court = `day-${mode}`;
  await use((c) => makeCourt(c, court, settingsOf(mode, hour)));
  await use((c) => putList(c, court, numbered(size.jurors, 'j')));
  const find = mode === 'claim' ? byClaim(use, court) : byInvitation(use);
  const backlog: number[] = [];
  const left = async () => {
    const open = "select count(*)::integer as n from item where kind = 'case' and queue = $1 and ended_at is null";
    return (await lab.sql<{ n: number }>(open, [court]))[0]?.n ?? 0;
  };
  const plan = planOf(size, court);
  let over = false;
  const start = performance.now();
  const hourCame = (at: number) => sleep(Math.max(0, start + at * hour * 1000 - performance.now()));
  const going: Promise<void>[] = [];
  const here = new Set<string>();
  let late = 0;
  const arrivals = (async () => {
    for (const { at, id } of plan.cases) {
      await hourCame(at);
      await use((c) => bring(c, court, [id]));
      late = Math.max(late, (performance.now() - start) / (hour * 1000) - at);
    }
  })();
  const watch = (async () => {
    for (let n = 1; !over; n++) {
      await hourCame(n);
      backlog.push(await left());
      over = n >= HOURS && backlog.at(-1) === 0;
    }
  })();
  for (const visit of plan.visits) {
    await hourCame(visit.at);
    if (over) break;
    // who is still here doesn't come
    if (here.has(visit.juror)) continue;
    here.add(visit.juror);
    going.push(comeAndGo(use, find, visit, hour).finally(() => here.delete(visit.juror)));
  }
  await Promise.all([arrivals, ...going, watch]);
  const { decided, hung, meanSecondsToDecide, votes, wasted } = need(
    await use((c) => c.get(`/v1/courts/${court}/stats`)),
    200,
  );
  if (decided + hung !== cases) throw new Error(`${decided} decided and ${hung} hung of ${cases} cases`);
  report.add({
    what: `a day in mode ${mode}: ${cases} cases, ${visits.toLocaleString('en-US')} visits of ${size.jurors.toLocaleString('en-US')} jurors`,
    figure: `${short((100 * decided) / (decided + hung))} % decided, after ${short(meanSecondsToDecide / hour)} h in the mean; ${votes} votes, ${wasted} wasted; each case was brought within ${short(late)} h of its time`,
    rival: 'the article: 100 %, from 20 h to under 2 h',
  });
  report.add({ what: `a day in mode ${mode}: open at the end of each hour`, figure: backlog.join(' ') });
}

const settingsOf = (mode: string, hour: number) => ({
  ...{ mode, votesToWin: 9, goldShare: 0, leaseSeconds: LEASE_HOURS * hour, deadlineSeconds: DEADLINE_HOURS * hour },
  ...(mode === 'assign' && { overbook: 11, assign: { jurors: 20, answerSeconds: ANSWER_HOURS * hour } }),
});

/** The same day on every run: when each case comes and when which juror looks in, in hours. */
function planOf({ cases, jurors, visits }: Size, court: string) {
  const draw = dice(7);
  const whenever = () => {
    const place = draw() * SUMS.reduce((most, n) => Math.max(most, n), 0);
    const hour = SUMS.findIndex((n) => place < n);
    return hour + draw();
  };
  const inOrder = <T extends { at: number }>(all: T[]) => all.sort((a, b) => a.at - b.at);
  const days = (HOURS + AFTER) / HOURS;
  return {
    cases: inOrder(numbered(cases, `${court}-`).map((id) => ({ id, at: whenever() }))),
    visits: inOrder(
      Array.from({ length: visits * days }, (_, n): Visit => {
        const at = whenever() + HOURS * Math.floor(n / visits);
        return { at, juror: `j${Math.floor(draw() * jurors)}`, draw: dice(n) };
      }),
    ),
  };
}

const byClaim =
  (use: Shared, court: string): Find =>
  async (juror) => {
    const { case: found, lease } = need(await use((c) => c.post(`/v1/courts/${court}/claim`, { juror })), 200);
    return found && { id: found.id, token: lease.token };
  };

const byInvitation =
  (use: Shared): Find =>
  async (juror) => {
    const [one] = need(await use((c) => c.get(`/v1/jurors/${juror}/invitations`)), 200).items;
    return one ? { id: one.case, token: one.token } : null;
  };

/** Judges what there is, a few at most, and leaves. What ends while it is being read is no error. */
async function comeAndGo(use: Shared, find: Find, { juror, draw }: Visit, hour: number): Promise<void> {
  for (let n = 0; n < MOST_A_VISIT; n++) {
    const held = await find(juror);
    if (!held) return;
    await sleep((READ.least + draw() * (READ.most - READ.least)) * hour * 1000);
    const vote = { token: held.token, option: opinion(held.id, draw()) };
    need(await use((c) => c.post(`/v1/cases/${held.id}/votes`, vote)), 200, 409);
  }
}
