import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Check, Checked } from './thread.ts';

const CLOSING = 'the process is about to end';
const HEAP_MB = 256;
/** Grace before the time-out counts, so that an answer that came while this thread was busy is read first. */
const GRACE_MS = 100;
/** Sources need a loader in each thread, compiled code does not. */
const THREAD = import.meta.url.endsWith('.ts')
  ? new URL('./thread.mjs', import.meta.url)
  : new URL('./thread.js', import.meta.url);

/** A thread that makes one check at a time. Owners take turns, so that many checks of one delay another's by one. */
export class Lane {
  readonly #limitMs: number;
  /** Turns by owner, in the order in which owners have theirs. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #thread: Promise<Worker> | undefined;
  #working = false;
  #closed = false;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /**
   * @param admit called when its turn has come; may throw
   * @returns undefined: it took more time than the lane gives, or more memory
   */
  run(owner: string, job: Check, admit: () => void = () => {}): Promise<Checked | undefined> {
    return new Promise((resolve, reject) => {
      const turns = this.#waiting.get(owner) ?? [];
      turns.push(async () => {
        try {
          admit();
          resolve(await this.#check(job));
        } catch (error) {
          reject(error);
        }
      });
      this.#waiting.set(owner, turns);
      void this.#work();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    for (let [next] = this.#waiting; next; [next] = this.#waiting) {
      const [owner, turns] = next;
      const turn = turns.shift();
      // behind all others
      this.#waiting.delete(owner);
      if (turns.length > 0) this.#waiting.set(owner, turns);
      await turn?.();
    }
    this.#working = false;
  }

  async #check(job: Check): Promise<Checked | undefined> {
    if (this.#closed) throw new Error(CLOSING);
    const thread = await this.#started();
    const over = new AbortController();
    const { signal } = over;
    try {
      const answer = once(thread, 'message', { signal }).then(([checked]) => checked as Checked);
      const ended = once(thread, 'exit', { signal }).then(() => undefined);
      const late = sleep(this.#limitMs, undefined, { signal }).then(() => sleep(GRACE_MS, undefined, { signal }));
      for (const p of [answer, ended, late]) p.catch(() => {});
      thread.postMessage(job);
      const checked = await Promise.race([answer, ended, late]);
      if (checked) return checked;
    } finally {
      over.abort();
    }
    await this.#end();
    // Not the schema's fault, so it must not count as a mismatch.
    if (this.#closed) throw new Error(CLOSING);
    return undefined;
  }

  async #started(): Promise<Worker> {
    const starting = this.#thread ?? startThread(() => this.#ended(starting));
    this.#thread = starting;
    try {
      return await starting;
    } catch (error) {
      this.#thread = undefined;
      throw error;
    }
  }

  #ended(thread: Promise<Worker>): void {
    if (this.#thread === thread) this.#thread = undefined;
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.then((t) => t.terminate()).catch(() => {});
  }
}

async function startThread(onExit: () => void): Promise<Worker> {
  const thread = new Worker(THREAD, {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  // without a listener it would end the process
  thread.on('error', () => {});
  thread.on('exit', onExit);
  thread.unref();
  await once(thread, 'message');
  return thread;
}
