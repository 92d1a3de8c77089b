import { setTimeout as sleep } from 'node:timers/promises';
import { call, Failed } from './call.ts';
import { dispute } from './disputes.ts';
import { COURT, jurors, order, people, QUEUE, sites, siteTicket, TOPIC, voteOnce } from './open.ts';

// Keeps everything moving at the pace of people until it is stopped.

const REVIEWERS = 6;
const RATINGS = ['G', 'G', 'G', 'P', 'R', 'X'];
const BEGIN = 1_000;

const anyOf = <T>(all: T[]): T => all[Math.floor(Math.random() * all.length)] as T;
/** Around so many seconds. */
const pause = (seconds: number) => sleep(seconds * 1000 * (0.5 + Math.random()));

/** @throws Failed for what will not pass */
export async function liveOn(): Promise<never> {
  console.log('\nkeeps it moving; Ctrl-C ends it');
  let n = BEGIN;
  await Promise.all([
    repeat(2, () => call('POST', `/v1/queues/${QUEUE}/tickets`, siteTicket(anyOf(sites), n++))),
    repeat(5, () => call('POST', `/v1/courts/${COURT}/cases`, dispute(n++))),
    repeat(3, () => call('POST', '/v1/jobs', { command: 'add', ...order(n++, Math.round(Math.random() * 60)) })),
    repeat(2, () => voteOnce(anyOf(jurors))),
    repeat(1, workOnce),
    ...people.slice(0, REVIEWERS).map((reviewer) => repeat(1, () => rateOnce(reviewer))),
  ]);
  throw new Error('it does not end by itself');
}

async function repeat(seconds: number, act: () => Promise<unknown>): Promise<void> {
  for (;;) {
    // someone else may have decided it, or the server is away for a moment; a wrong key stays wrong
    await act().catch((error: unknown) => {
      if (!(error instanceof Failed && error.isPassing)) throw error;
      console.error(error.message);
    });
    await pause(seconds);
  }
}

/** Claims, looks for some seconds, decides; sometimes skips. */
async function rateOnce(reviewer: string): Promise<void> {
  const { tickets } = await call('POST', `/v1/queues/${QUEUE}/claim`, { reviewer, waitSeconds: 20 });
  for (const { id, lease } of tickets) {
    await pause(6);
    const { token } = lease;
    if (Math.random() < 0.05)
      await call('POST', `/v1/tickets/${id}/release`, { token, skip: true, reason: 'not mine' });
    else await call('POST', `/v1/tickets/${id}/decide`, { token, decision: { rating: anyOf(RATINGS) } });
  }
}

async function workOnce(): Promise<void> {
  const { id, token } = await call('POST', '/v1/jobs', { command: 'pop', topic: TOPIC, wait: 20 });
  if (id === null) return;
  await pause(1);
  await call('POST', '/v1/jobs', { command: 'finish', id, token });
}
