import { setMaxListeners } from 'node:events';
import * as timers from 'node:timers/promises';
import { Circuit } from '../activities/circuit.ts';
import { type Answer, post } from '../activities/webhook.ts';
import type { Item } from '../contract/items.ts';
import type { PushTarget } from '../contract/jobs.ts';
import { withoutQuery } from '../domain/callbacks.ts';
import { jobView } from '../domain/jobs.ts';
import { Alarm } from '../runtime/alarm.ts';
import { Repeating } from '../runtime/repeating.ts';
import * as jobs from '../services/jobs/jobs.ts';
import * as popping from '../services/jobs/popping.ts';
import * as topics from '../services/jobs/topics.ts';
import type { Context } from '../services/shared/service.ts';
import { messageIdOf } from '../services/shared/tokens.ts';

const SETTINGS_MS = 1_000;
const POLL_MS = 5_000;
const MARGIN_MS = 500;
/** How long a stop waits for receivers. */
const STOP_MS = 10_000;
const MAX_BACKOFF_SECONDS = 3_600;

interface Topic {
  name: string;
  target: PushTarget;
  /** Pushes that have no answer yet. */
  underWay: Set<Promise<void>>;
  circuit: Circuit;
  /** Rings when there may be something to push. */
  alarm: Alarm;
  stop(): void;
}

/**
 * Pushes the jobs of topics that have a target (S3.7): each is POSTed signed, 2xx finishes it, anything
 * else gives it back with a growing delay. The topic's limit holds over all processes; each topic has a
 * circuit breaker.
 */
export class Pusher {
  readonly #ctx: Context;
  readonly #topics = new Map<string, Topic>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #settings: Repeating;
  #timer: NodeJS.Timeout | undefined;

  constructor(ctx: Context) {
    // one for each push that is under way
    setMaxListeners(0, this.#closing.signal);
    this.#ctx = ctx;
    this.#settings = new Repeating(
      () => this.#readSettings(),
      (error) => ctx.log.warn({ err: error.message }, 'push targets could not be read, trying again'),
    );
  }

  start(): void {
    this.#settings.run();
    this.#timer = setInterval(() => this.#settings.run(), SETTINGS_MS).unref();
  }

  /** Takes no more jobs, and waits for pushes under way, for 10 s at most. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#settings.stop();
    for (const topic of this.#topics.values()) topic.stop();
    const late = setTimeout(() => this.#closing.abort(), STOP_MS);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    clearTimeout(late);
  }

  /** Keeps work in these sets until it has ended. */
  #track(work: Promise<void>, ...sets: Set<Promise<void>>[]): void {
    const tracked = work.finally(() => {
      for (const set of [this.#underWay, ...sets]) set.delete(tracked);
    });
    for (const set of [this.#underWay, ...sets]) set.add(tracked);
  }

  async #readSettings(): Promise<void> {
    const wanted = new Map((await topics.pushTargets(this.#ctx)).map((t) => [t.name, t.push]));
    for (const [name, topic] of this.#topics)
      if (!wanted.has(name)) {
        topic.stop();
        this.#topics.delete(name);
      }
    for (const [name, target] of wanted) this.#follow(name, target);
  }

  #follow(name: string, target: PushTarget): void {
    const known = this.#topics.get(name);
    if (known) {
      known.target = target;
      return;
    }
    const stopped = new AbortController();
    const stop = () => stopped.abort();
    const alarm = new Alarm();
    const topic: Topic = { name, target, underWay: new Set(), circuit: new Circuit(), alarm, stop };
    this.#topics.set(name, topic);
    this.#track(this.#run(topic, stopped.signal));
  }

  async #run(topic: Topic, stopped: AbortSignal): Promise<void> {
    const { alarm } = topic;
    const wake = () => alarm.wakeIn(0);
    // not `waitFor`: that counts as a caller, and ends before the worker does
    const unwatch = this.#ctx.waiters.watch((key) => {
      if (key === `job/${topic.name}`) wake();
    });
    stopped.addEventListener('abort', wake);
    while (!stopped.aborted) {
      if ((await this.#take(topic, stopped)) > 0) continue;
      const pause = topic.circuit.probeAt - performance.now();
      await alarm.sleep(pause > 0 ? Math.min(pause, POLL_MS) : POLL_MS);
    }
    unwatch();
  }

  /** Starts to push jobs, as many as the topic permits. @returns their number */
  async #take(topic: Topic, stopped: AbortSignal): Promise<number> {
    const { name, target, underWay, circuit } = topic;
    if (!circuit.permits(underWay.size, performance.now())) return 0;
    const free = circuit.isOpen ? 1 : target.concurrency - underWay.size;
    if (free <= 0) return 0;
    try {
      // before anything is popped: a key that is missing must not use up attempts
      const opened = this.#ctx.secrets.open(target);
      const popped = await popping.popToPush(this.#ctx, name, free, target.concurrency);
      for (const job of popped) this.#track(this.#push(job, topic, opened), underWay);
      return popped.length;
    } catch (error) {
      const fields = { err: (error as Error).message, topic: name };
      this.#ctx.log.warn(fields, 'jobs to push could not be taken, trying again');
      await sleep(1_000, stopped);
      return 0;
    }
  }

  async #push(job: Item, topic: Topic, { url, secret }: PushTarget): Promise<void> {
    try {
      const body = JSON.stringify({ type: 'job', version: job.version, job: jobView(job) });
      const timeoutMs = Math.max((job.lease_seconds ?? 0) * 1000 - MARGIN_MS, MARGIN_MS);
      const wait = { timeoutMs, gone: this.#closing.signal };
      const message = { url, secret, id: messageIdOf(`job/${job.id}/${job.seq}`), body };
      const answer = await post(message, this.#ctx.config.privateCallbacks, wait).catch((error: Error) => error);
      // the receiver may still be working on it: the job is pushed again after its TTR
      if (answer instanceof Error && this.#closing.signal.aborted) return;
      await this.#settle(job, topic, answer);
    } catch (error) {
      // the lease runs out, and the job is pushed again
      const fields = { err: (error as Error).message, job: job.id };
      this.#ctx.log.warn(fields, 'the outcome of a push could not be recorded');
    } finally {
      topic.alarm.wakeIn(0);
    }
  }

  async #settle(job: Item, topic: Topic, answer: Answer | Error): Promise<void> {
    const { log } = this.#ctx;
    const held = { id: job.id, token: job.lease_id ?? '' };
    const { status, retryAfterMs } = answer instanceof Error ? { status: null, retryAfterMs: null } : answer;
    const url = withoutQuery(topic.target.url);
    const fields = { job: job.id, topic: job.queue, url, status, attempt: job.attempts };
    if (status !== null && status >= 200 && status < 300) {
      topic.circuit.succeeded();
      log.info(fields, 'pushed');
      await jobs.finish(this.#ctx, held.id, held.token, 'push');
      return;
    }
    // a receiver that rejects one job (4xx) is not down
    const down = status === null || status >= 500;
    if (down) topic.circuit.failed(performance.now());
    else topic.circuit.succeeded();
    const delay = retryAfterMs === null ? 2 ** Math.min(job.attempts, 20) : Math.max(1, retryAfterMs / 1000);
    const delaySeconds = Math.min(delay, MAX_BACKOFF_SECONDS);
    const error = answer instanceof Error ? answer.message : null;
    log.warn({ ...fields, error, delaySeconds }, 'not pushed');
    await jobs.release(this.#ctx, held, delaySeconds, { reason: error ?? `the receiver answered ${status}` });
  }
}

/** Cut short when stopped. */
const sleep = (ms: number, signal: AbortSignal) => timers.setTimeout(ms, undefined, { signal }).catch(() => {});
