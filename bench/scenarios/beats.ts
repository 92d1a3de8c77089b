import { type Caller, need, openCallers } from '../client.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { openPgBoss, PG_BOSS } from '../rivals/pgboss.ts';
import { seedJobs, seedTickets } from '../seed.ts';
import { median, repeat, short, type Timed } from '../stats.ts';
import { round, shallow } from './claims.ts';

const CONCURRENCY = [1, 16, 64];
const SKILLED = 'beats-skilled';
const FORM = { type: 'object', properties: { verdict: { enum: ['keep', 'remove'] } }, required: ['verdict'] };
const BESIDE_TWO_CALLS = 1.5;
const BESIDE_WITHOUT_SKILLS = 0.8;
const TICKETS_BESIDE: Record<number, number> = { 1: 1, 16: 1.8, 64: 2.5 };
const JOBS_BESIDE = 2.5;

/** One caller's way from one hand-out to the next. @returns undefined: nothing is left */
interface Beat<Held> {
  first(caller: Caller, n: number): Promise<Held | undefined>;
  next(caller: Caller, held: Held, n: number): Promise<Held | undefined>;
  /** What is still held when the time is over. */
  leave(caller: Caller, held: Held): Promise<unknown>;
}

interface Ticket {
  id: string;
  lease: { token: string };
}

export const tickets = (queue: string, skills: string[] = []): Beat<Ticket> => ({
  first: async (caller, n) => {
    const claim = { reviewer: `r${n}`, skills };
    return need(await caller.post(`/v1/queues/${queue}/claim`, claim), 200).tickets[0];
  },
  next: async (caller, { id, lease: { token } }) => {
    const decision = { verdict: 'keep' };
    const decided = await caller.post(`/v1/tickets/${id}/decide`, { token, decision, next: true, skills });
    return need(decided, 200).next ?? undefined;
  },
  leave: (caller, { id, lease: { token } }) => caller.post(`/v1/tickets/${id}/release`, { token }),
});

const jobs = (topic: string): Beat<{ id: string; token: string }> => ({
  first: async (caller) => {
    const job = need(await caller.post('/v1/jobs', { command: 'pop', topic }), 200);
    return job.id === null ? undefined : job;
  },
  next: async (caller, { id, token }) =>
    need(await caller.post('/v1/jobs', { command: 'finish', id, token, next: true }), 200).next ?? undefined,
  leave: (caller, { id, token }) => caller.post('/v1/jobs', { command: 'release', id, token, delay: 0 }),
});

/** The beat of a reviewer or consumer, one call each, beside the same by two calls and pg-boss's fetch → complete (scenario 22). */
export async function beats(lab: Lab, report: Report): Promise<void> {
  const [waiting, rounds, seconds] = lab.quick ? [60_000, 2, 2] : [250_000, 5, 4];
  await seedTickets(lab, 'beats', waiting);
  await seedTickets(lab, SKILLED, waiting, ['violence']);
  await seedJobs(lab, 'beats', waiting, 0);
  const rival = await openPgBoss(lab);
  const docket = await lab.docket();
  try {
    const [settings] = await openCallers(docket.url, 1);
    need((await settings?.put(`/v1/queues/${SKILLED}`, { form: FORM })) ?? { status: 0, body: null }, 200);
    settings?.close();
    await round(docket.url, 'beats', 64, 5);
    for (const n of CONCURRENCY) {
      const rates: Record<'two' | 'next' | 'skilled' | 'jobs' | 'boss', number[]> = {
        ...{ two: [], next: [], skilled: [], jobs: [], boss: [] },
      };
      for (let done = 0; done < rounds; done++) {
        rates.two.push((await round(docket.url, 'beats', n, seconds)).rate);
        rates.next.push((await beatRound(docket.url, tickets('beats'), n, seconds)).rate);
        rates.skilled.push((await beatRound(docket.url, tickets(SKILLED, ['violence']), n, seconds)).rate);
        rates.jobs.push((await beatRound(docket.url, jobs('beats'), n, seconds)).rate);
        await docket.aside(async () => {
          rates.boss.push((await shallow(rival, n, seconds)).rate);
        });
      }
      const line = (what: string, ours: number[], rivalName: string, theirs: number[], least: number) =>
        report.add({
          what: `${what}, ${n} caller${n === 1 ? '' : 's'}`,
          figure: `${short(median(ours))}/s`,
          rival: `${rivalName}: ${short(median(theirs))}/s`,
          // of each round by itself: machines are not equally fast for long
          ratio: median(ours.map((rate, at) => rate / (theirs[at] ?? Number.NaN))),
          target: { least },
        });
      line('decide with next', rates.next, 'claim, then decide', rates.two, BESIDE_TWO_CALLS);
      line('decide with next', rates.next, `${PG_BOSS}, short queues`, rates.boss, TICKETS_BESIDE[n] ?? 1);
      line('the same with skills and a form', rates.skilled, 'without', rates.next, BESIDE_WITHOUT_SKILLS);
      line('finish with next', rates.jobs, `${PG_BOSS}, short queues`, rates.boss, JOBS_BESIDE);
    }
  } finally {
    await docket.stop();
    await rival.stop();
  }
}

/** Beats by `n` callers, on fresh connections: the server closes idle ones. */
export async function beatRound<Held>(url: string, beat: Beat<Held>, n: number, seconds: number): Promise<Timed> {
  const callers = await openCallers(url, n);
  const held: (Held | undefined)[] = await Promise.all(callers.map((caller, at) => beat.first(caller, at)));
  const timed = await repeat(
    callers.map((caller, at) => async () => {
      const one = held[at];
      if (one === undefined) return false;
      held[at] = await beat.next(caller, one, at);
      return true;
    }),
    seconds,
  );
  await Promise.all(held.map((one, at) => (one === undefined ? undefined : beat.leave(callers[at] as Caller, one))));
  for (const caller of callers) caller.close();
  return timed;
}
