import type pg from 'pg';
import { Connection, connectionTo, needSessions } from '../db/connecting.ts';
import type { Log } from './log.ts';

/** A hint to other processes after a commit; a slow poll makes up for each lost one. */
export interface Hint {
  node: string;
  /** Items that became free, per queue key. */
  ready?: Record<string, number>;
  /** Something is due in this many milliseconds. */
  dueInMs?: number;
  /** A lease was ended, or a held item changed. */
  notices?: true;
  /** The log has new lines; `now`: someone waits for their publication. */
  follow?: 'now' | 'soon';
  /** An item has ended for which a workflow waits; sent by the database itself. */
  waits?: true;
  /** The slowdown of this process's callers (`Load`). */
  slowdown?: number;
}

type NewHint = Omit<Hint, 'node' | 'ready'> & { ready?: [queue: string, n: number] };

export interface BusOptions {
  url: string;
  node: string;
  log: Log;
  onHint: (hint: Hint) => void;
  /** Called after LISTEN has reconnected: hints may have been missed. */
  onGap: () => void;
  publish: (payload: string) => Promise<unknown>;
}

const CHANNEL = 'docket';
const GATHER_MS = 5;
/** Delay of hints that no one waits for. */
const GATHER_SOON_MS = 100;
/** Bytes; PostgreSQL takes 7,999. */
const MAX_PAYLOAD = 7_000;
/** Maximum queues of one hint; the slow polls serve the others. */
const MAX_PAYLOADS = 8;

/**
 * LISTEN/NOTIFY between processes: at most one notification every few milliseconds, none while this is the only process,
 * and always outside transactions, where each commit would take a lock of the whole server.
 */
export class Bus {
  readonly #o: BusOptions;
  #client: pg.Client | undefined;
  #next: Hint | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reconnecting: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #stopped = false;
  /** Whether other processes are alive; set by maintenance. */
  hasPeers = true;

  constructor(options: BusOptions) {
    this.#o = options;
  }

  async start(): Promise<void> {
    await needSessions(this.#o.url);
    await this.#listen();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#reconnecting);
    await this.#client?.end().catch(() => {});
  }

  hint({ ready, dueInMs, notices, follow, slowdown }: NewHint): void {
    if (!this.hasPeers || this.#stopped) return;
    this.#next ??= { node: this.#o.node };
    const hint = this.#next;
    if (ready) {
      hint.ready ??= {};
      hint.ready[ready[0]] = (hint.ready[ready[0]] ?? 0) + ready[1];
    }
    if (dueInMs !== undefined) hint.dueInMs = Math.min(hint.dueInMs ?? Number.POSITIVE_INFINITY, dueInMs);
    if (notices) hint.notices = true;
    if (follow && hint.follow !== 'now') hint.follow = follow;
    if (slowdown !== undefined) hint.slowdown = slowdown;
    this.#sendIn(follow === 'soon' ? GATHER_SOON_MS : GATHER_MS);
  }

  #sendIn(ms: number): void {
    const dueAt = performance.now() + ms;
    if (dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), ms).unref();
  }

  #send(): void {
    const hint = this.#next;
    this.#next = undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (!hint) return;
    for (const payload of payloads(hint))
      this.#o.publish(payload).catch((error: Error) => this.#o.log.warn({ err: error.message }, 'notify failed'));
  }

  async #listen(): Promise<void> {
    const name = `docket ${this.#o.node} listen`;
    const client = new Connection(
      connectionTo(this.#o.url, { connectionTimeoutMillis: 5_000, application_name: name }),
    );
    this.#client = client;
    client.on('notification', ({ payload }) => {
      const hint = hintOf(payload);
      if (!hint) this.#o.log.warn({ channel: CHANNEL }, 'a notification that is not of Docket was ignored');
      else if (hint.node !== this.#o.node) this.#o.onHint(hint);
    });
    client.on('error', () => {});
    await client.connect();
    try {
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    client.on('end', () => this.#reconnect());
  }

  #reconnect(): void {
    if (this.#stopped) return;
    this.#reconnecting = setTimeout(() => {
      this.#listen().then(
        () => this.#o.onGap(),
        () => this.#reconnect(),
      );
    }, 1_000).unref();
  }
}

/** Validates a hint: anyone who may connect to the database may write to the channel. */
function hintOf(payload = ''): Hint | undefined {
  try {
    const hint = JSON.parse(payload) as Hint | null;
    return typeof hint?.node === 'string' ? hint : undefined;
  } catch {
    return undefined;
  }
}

/** Splits a hint into notifications within PostgreSQL's size limit: queues are spread over several. */
function payloads({ node, ready = {}, ...rest }: Hint): string[] {
  const parts: Hint[] = [{ node, ...rest }];
  let bytes = Buffer.byteLength(JSON.stringify(parts[0]));
  for (const [queue, n] of Object.entries(ready)) {
    const size = Buffer.byteLength(JSON.stringify({ [queue]: n })) + '"ready":,'.length;
    if (bytes + size > MAX_PAYLOAD) {
      if (parts.length === MAX_PAYLOADS) break;
      parts.push({ node });
      bytes = Buffer.byteLength(JSON.stringify({ node }));
    }
    const part = parts.at(-1) as Hint;
    part.ready ??= {};
    part.ready[queue] = n;
    bytes += size;
  }
  return parts.map((part) => JSON.stringify(part));
}
