import { createHash } from 'node:crypto';
import * as timers from 'node:timers/promises';
import { type Answer, post } from '../activities/webhook.ts';
import type { Item } from '../contract/items.ts';
import { finishJobs, type PushTarget, popToPush, pushTopics, releaseJobs } from '../db/jobs.ts';
import { withoutQuery } from '../domain/callbacks.ts';
import { jobView } from '../domain/jobs.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { newToken } from '../services/tokens.ts';

const SETTINGS_MS = 1_000;
const POLL_MS = 5_000;
const MARGIN_MS = 500;
const FAILURES_TO_OPEN = 5;
const MAX_BREAK_MS = 60_000;
const MAX_BACKOFF_SECONDS = 3_600;

interface Line {
  target: PushTarget;
  /** Pushes that have no answer yet. */
  underWay: Set<Promise<void>>;
  failures: number;
  /** `performance.now()` before which nothing but a probe is sent. */
  brokenUntil: number;
  stop(): void;
}

/**
 * Pushes the jobs of topics that have a target (S3.7): each is POSTed signed, 2xx finishes it, anything
 * else gives it back with a growing delay. The topic's limit holds over all processes; after five
 * failures in a row the circuit is open and one job at a time is tried, ever more rarely.
 */
export class Pusher {
  readonly #runtime: Runtime;
  readonly #allowPrivate: boolean;
  readonly #lines = new Map<string, Line>();
  readonly #underWay = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(runtime: Runtime, allowPrivate: boolean) {
    this.#runtime = runtime;
    this.#allowPrivate = allowPrivate;
  }

  start(): void {
    void this.#readSettings();
  }

  /** Takes no more and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const line of this.#lines.values()) line.stop();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Remembers what is under way until it has ended. */
  #track(work: Promise<void>, ...sets: Set<Promise<void>>[]): void {
    const tracked = work.finally(() => {
      for (const set of [this.#underWay, ...sets]) set.delete(tracked);
    });
    for (const set of [this.#underWay, ...sets]) set.add(tracked);
  }

  async #readSettings(): Promise<void> {
    try {
      const wanted = new Map((await pushTopics(this.#runtime.db)).map((t) => [t.name, t.push]));
      if (this.#stopped) return;
      for (const [topic, line] of this.#lines)
        if (!wanted.has(topic)) {
          line.stop();
          this.#lines.delete(topic);
        }
      for (const [topic, target] of wanted) this.#follow(topic, target);
    } catch (error) {
      this.#runtime.log.warn({ err: (error as Error).message }, 'push targets could not be read, trying again');
    }
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#readSettings(), SETTINGS_MS);
    this.#timer.unref();
  }

  #follow(topic: string, target: PushTarget): void {
    const known = this.#lines.get(topic);
    if (known) {
      known.target = target;
      return;
    }
    const stopped = new AbortController();
    const line: Line = { target, underWay: new Set(), failures: 0, brokenUntil: 0, stop: () => stopped.abort() };
    this.#lines.set(topic, line);
    this.#track(this.#run(topic, line, stopped.signal));
  }

  async #run(topic: string, line: Line, stopped: AbortSignal): Promise<void> {
    const keys = () => [`job/${topic}`];
    while (!stopped.aborted) {
      const full = () => line.underWay.size >= line.target.concurrency;
      const pause = Math.max(line.brokenUntil - performance.now(), 0);
      if (pause > 0 && line.underWay.size === 0) {
        await sleep(Math.min(pause, POLL_MS), stopped);
        continue;
      }
      if (full() || pause > 0) await Promise.race(line.underWay);
      const take = async () => ((await this.#take(topic, line, stopped)) > 0 || full() ? true : undefined);
      await this.#runtime.waiters.waitFor({ keys, seconds: POLL_MS / 1_000, signal: stopped }, take);
    }
  }

  /** @returns how many jobs are on their way now that were not before */
  async #take(topic: string, line: Line, stopped: AbortSignal): Promise<number> {
    const broken = line.failures >= FAILURES_TO_OPEN;
    if (broken && (line.underWay.size > 0 || performance.now() < line.brokenUntil)) return 0;
    const free = broken ? 1 : line.target.concurrency - line.underWay.size;
    if (free <= 0) return 0;
    const { db, log } = this.#runtime;
    try {
      const rows = await popToPush(db, topic, Array.from({ length: free }, newToken), line.target.concurrency);
      for (const job of rows) this.#track(this.#push(job, line), line.underWay);
      return rows.length;
    } catch (error) {
      log.warn({ err: (error as Error).message, topic }, 'jobs to push could not be taken, trying again');
      await sleep(1_000, stopped);
      return 0;
    }
  }

  async #push(job: Item, line: Line): Promise<void> {
    try {
      const { url, secret } = line.target;
      const body = JSON.stringify({ type: 'job', version: job.version, job: jobView(job) });
      const patience = Math.max((job.lease_seconds ?? 0) * 1000 - MARGIN_MS, MARGIN_MS);
      const message = { url, secret, id: messageId(job), body };
      const answer = await post(message, this.#allowPrivate, patience).catch((error: Error) => error);
      await this.#settle(job, line, answer);
    } catch (error) {
      // its lease runs out, and it is pushed again
      this.#runtime.log.warn({ err: (error as Error).message, job: job.id }, 'the outcome of a push could not be kept');
    }
  }

  async #settle(job: Item, line: Line, answer: Answer | Error): Promise<void> {
    const { db, log } = this.#runtime;
    const token = job.lease_id ?? '';
    const status = answer instanceof Error ? null : answer.status;
    const fields = { job: job.id, topic: job.queue, url: withoutQuery(line.target.url), status, attempt: job.attempts };
    const taken = !(answer instanceof Error) && answer.status >= 200 && answer.status < 300;
    if (taken) {
      line.failures = 0;
      log.info(fields, 'pushed');
      await finishJobs(db, [{ id: job.id, token, actor: 'push' }]);
      return;
    }
    // a receiver that refuses one job (4xx) is not down
    const down = answer instanceof Error || answer.status >= 500;
    line.failures = down ? line.failures + 1 : 0;
    if (line.failures >= FAILURES_TO_OPEN)
      line.brokenUntil = performance.now() + Math.min(MAX_BREAK_MS, 1_000 * 2 ** (line.failures - FAILURES_TO_OPEN));
    const asked = answer instanceof Error ? null : answer.retryAfterMs;
    const delay = asked === null ? 2 ** Math.min(job.attempts, 20) : Math.max(1, asked / 1000);
    const delaySeconds = Math.min(delay, MAX_BACKOFF_SECONDS);
    log.warn({ ...fields, error: answer instanceof Error ? answer.message : null, delaySeconds }, 'not pushed');
    await releaseJobs(db, [{ id: job.id, token }], delaySeconds, null);
  }
}

/** The same for every attempt at a job, so that receivers can drop repeats. */
const messageId = (job: Item) => `msg_${createHash('sha256').update(`job/${job.id}`).digest('hex').slice(0, 32)}`;

/** Cut short when stopped. */
const sleep = (ms: number, signal: AbortSignal) => timers.setTimeout(ms, undefined, { signal }).catch(() => {});
