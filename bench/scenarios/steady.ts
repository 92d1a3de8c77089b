import { setTimeout as sleep } from 'node:timers/promises';
import { type Caller, need, openCallers } from '../client.ts';
import { drained, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { BODY } from '../seed.ts';
import { ms, quantile, short } from '../stats.ts';

const PER_SECOND = 20;
/** Each ticket waits this many turns before it is claimed, and is held as long: its workflow hears of both. */
const TURNS = 20;
const WATCH_MS = 83;

type Call = 'add' | 'claim' | 'decide';

/** Twenty tickets a second, each added, claimed and decided, each with its workflow (scenario 4). */
export async function steady(lab: Lab, report: Report): Promise<void> {
  const seconds = lab.quick ? 20 : 60;
  const docket = await lab.docket();
  const took: Record<Call, number[]> = { add: [], claim: [], decide: [] };
  const lag = { rows: 0, seconds: 0 };
  const before = await closed(lab);
  try {
    const callers = await openCallers(docket.url, 8);
    const free = [...callers];
    const held: { id: string; token: string }[] = [];
    const ends: Promise<void>[] = [];
    const turns = (seconds + 2 * (TURNS / PER_SECOND)) * PER_SECOND;
    const watching = setInterval(() => void watch(lab, lag), WATCH_MS);
    const start = performance.now();
    for (let turn = 0; turn < turns; turn++) {
      await sleep(Math.max(0, start + (turn * 1000) / PER_SECOND - performance.now()));
      const caller = free.shift() ?? (await openCallers(docket.url, 1))[0];
      if (!caller) throw new Error('no caller');
      const done = () => void free.push(caller);
      ends.push(oneTurn(caller, turn, seconds * PER_SECOND, held, took).finally(done));
    }
    await Promise.all(ends);
    clearInterval(watching);
    for (const caller of free) caller.close();
    const told = await drained(lab);
    await until(async () => (await closed(lab)) - before >= seconds * PER_SECOND);
    for (const call of ['add', 'claim', 'decide'] as const)
      report.add({
        what: `${PER_SECOND} tickets/s for ${seconds} s: ${call}`,
        figure: `p50 ${ms(quantile(took[call], 0.5))}, p99 ${ms(quantile(took[call], 0.99))}`,
      });
    report.add({
      what: 'unpublished meanwhile',
      figure: `at most ${lag.rows} rows, the oldest ${short(lag.seconds)} s; empty ${short(told)} s after the last call; all ${seconds * PER_SECOND} workflows completed`,
    });
  } finally {
    await docket.stop();
  }
}

async function oneTurn(
  caller: Caller,
  turn: number,
  last: number,
  held: { id: string; token: string }[],
  took: Record<Call, number[]>,
) {
  const timed = async (call: Call, path: string, body: object, status: number) => {
    const start = performance.now();
    const answer = need(await caller.post(path, body), status);
    took[call].push(performance.now() - start);
    return answer;
  };
  if (turn < last) await timed('add', '/v1/queues/steady/tickets', { body: BODY }, 201);
  if (turn >= TURNS && turn < last + TURNS) {
    const { tickets } = await timed('claim', '/v1/queues/steady/claim', { reviewer: `s${turn}` }, 200);
    held.push({ id: tickets[0].id, token: tickets[0].lease.token });
  }
  const mine = turn >= 2 * TURNS && held.shift();
  if (mine) await timed('decide', `/v1/tickets/${mine.id}/decide`, { token: mine.token, decision: 1 }, 200);
}

async function watch(lab: Lab, lag: { rows: number; seconds: number }): Promise<void> {
  const [now] = await lab.db.run('publishing_lag');
  lag.rows = Math.max(lag.rows, now?.waiting ?? 0);
  lag.seconds = Math.max(lag.seconds, now?.oldest_seconds ?? 0);
}

/** Workflows of tickets that have completed, as Temporal counts them. */
export async function closed(lab: Lab, type = 'ticket'): Promise<number> {
  const { count } = await lab.client.workflow.count(`WorkflowType = '${type}' AND ExecutionStatus = 'Completed'`);
  return count;
}

export async function until(check: () => Promise<boolean>, seconds = 300): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`not within ${seconds} s`);
    await sleep(100);
  }
}
