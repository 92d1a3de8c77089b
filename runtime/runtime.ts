import type { Client } from '@temporalio/client';
import type { Item } from '../contract/items.ts';
import { type Db, openDb } from '../db/pool.ts';
import { isQuiet, kindOf } from '../domain/kinds.ts';
import { Feed } from '../services/feed.ts';
import { Invitations } from '../services/invitations.ts';
import { createInbox, type Inbox } from '../services/reviews.ts';
import { isMarked, Rules } from '../services/rules.ts';
import { Load } from './load.ts';
import type { Log } from './log.ts';
import { Keeper } from './maintenance.ts';
import { Notices } from './notices.ts';
import { Bus, type Hint } from './notify.ts';
import { type AfterCommit, newest } from './outbox/messages.ts';
import { Relay } from './outbox/relay.ts';
import { Pacemaker } from './pacemaker.ts';
import { Reconciler } from './reconciler.ts';
import { Schemas } from './schemas/schemas.ts';
import { POLL_STEPS, Waiters } from './waiters.ts';

export interface EngineOptions {
  databaseUrl: string;
  client: Client;
  /** Unique per process. */
  node: string;
  /** Where other processes and clients reach this one; null for a worker. */
  url: string | null;
  role: 'api' | 'worker' | 'all';
  log: Log;
  pacemaker: boolean;
  relayConcurrency: number;
  relayIdlePerSecond: number;
  relayBusyPerSecond: number;
  /** How far ahead of the database's clock an audit time may be. */
  auditSkewSeconds: number;
  /** How long what is over of tasks is kept. */
  retentionDays: number;
  poolSize: number;
}

/** What every process of Docket carries: the database, and what has to happen after a commit. */
export interface Engine {
  readonly db: Db;
  readonly client: Client;
  readonly node: string;
  readonly log: Log;
  readonly relay: Relay;
  readonly waiters: Waiters;
  readonly notices: Notices;
  readonly feed: Feed;
  readonly invitations: Invitations;
  readonly after: AfterCommit;
  readonly inbox: Inbox;
  readonly schemas: Schemas;
  readonly rules: Rules;
  /** `after` for rows whose queue may have rules; returns them as they are once those are evaluated. */
  settled(rows: Item[]): Promise<Item[]>;
  /** Calls being worked on. The relay yields to them. */
  readonly load: Load;
  /** Something may be due earlier than the pacemaker knows. */
  rearm(): void;
  /** Everybody who waits for a queue looks again. */
  wakeAll(queue: string): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const EVERYBODY = 100_000;
const SLOW_POLL_MS = 5_000;

export function createEngine(o: EngineOptions): Engine {
  const { node, log, client, url, role, retentionDays } = o;
  const onError = (error: Error) => log.warn({ err: error.message }, 'a database connection was lost');
  const db = openDb({ url: o.databaseUrl, node, max: o.poolSize, onError });
  const load = new Load();
  const waiters = new Waiters();
  const notices = new Notices(db, log);
  const feed = new Feed(db, log);
  const schemas = new Schemas();
  const rules = new Rules(db, schemas, log);
  const relay = new Relay({ db, client, node, log, ...ratesOf(o), busy: () => load.busy });

  const onHint = (hint: Hint) => {
    for (const [queue, n] of Object.entries(hint.ready ?? {})) waiters.ready(queue, n);
    if (hint.dueInMs !== undefined) arm(hint.dueInMs);
    if (hint.notices) notices.look();
    feed.look();
  };
  const bus = new Bus({
    url: o.databaseUrl,
    node,
    log,
    onHint,
    onGap: () => waiters.poll(),
    publish: (payload) => db.run('notify', [payload]),
  });

  const arm = (ms: number) => {
    if (o.pacemaker) pacemaker.arm(ms);
  };
  const after = afterCommit({ relay, waiters, bus, notices, feed, rules, log, arm, invite: () => invitations.look() });
  const invitations = new Invitations({ db, client, after, log });
  const pacemaker = new Pacemaker({ db, after, log });
  const reconciler = new Reconciler({ db, client, log });
  const keeper = new Keeper({ db, after, node, url, role, retentionDays, relay, bus, rules, invitations, log });
  let slowPoll: NodeJS.Timeout | undefined;
  return {
    ...{ db, client, node, log, load, invitations },
    ...{ relay, waiters, notices, feed, after, schemas, rules },
    inbox: createInbox(db, relay, o.auditSkewSeconds),
    settled: (rows) => settleRules(rules, after, rows),
    rearm() {
      arm(0);
      bus.hint({ dueInMs: 0 });
    },
    wakeAll(queue) {
      waiters.ready(queue, EVERYBODY);
      bus.hint({ ready: [queue, EVERYBODY] });
    },
    async start() {
      await bus.start();
      await keeper.start();
      reconciler.start();
      if (o.pacemaker) pacemaker.start();
      let step = 0;
      slowPoll = setInterval(() => waiters.pollSome(step++), SLOW_POLL_MS / POLL_STEPS).unref();
    },
    async stop() {
      clearInterval(slowPoll);
      notices.stop();
      feed.stop();
      await Promise.all([pacemaker.stop(), reconciler.stop(), invitations.stop()]);
      await relay.stop();
      await keeper.stop();
      await schemas.close();
      await bus.stop();
      await db.end();
    },
  };
}

async function settleRules(rules: Rules, after: AfterCommit, rows: Item[]): Promise<Item[]> {
  const all = [...rows];
  try {
    all.push(...(await rules.settle(rows)));
  } finally {
    after(all);
  }
  return newest(all);
}

const ratesOf = (o: EngineOptions) => ({
  concurrency: o.relayConcurrency,
  idlePerSecond: o.relayIdlePerSecond,
  busyPerSecond: o.relayBusyPerSecond,
});

interface Listeners {
  relay: Relay;
  waiters: Waiters;
  bus: Bus;
  notices: Notices;
  feed: Feed;
  rules: Rules;
  log: Log;
  /** Something is due in so many milliseconds. */
  arm(ms: number): void;
  /** Jurors may have become free, or have been invited. */
  invite(): void;
}

function afterCommit({ relay, waiters, bus, notices, feed, rules, log, arm, invite }: Listeners): AfterCommit {
  const after: AfterCommit = (rows, { toldBy, byTick = false } = {}) => {
    if (rows.length === 0) return;
    feed.look();
    relay.settle(rows.filter((r) => r.id === toldBy));
    relay.tell(
      rows.filter((r) => r.id !== toldBy),
      byTick,
    );
    if (rows.some((r) => kindOf(r.kind).court && !isQuiet(r))) invite();
    const free = new Map<string, number>();
    let dueInMs = Number.POSITIVE_INFINITY;
    for (const row of rows) {
      const n = freed(row);
      if (n > 0) free.set(queueKey(row), (free.get(queueKey(row)) ?? 0) + n);
      if (row.wake_at) dueInMs = Math.min(dueInMs, row.wake_at.getTime() - row.updated_at.getTime() + 1);
    }
    for (const [queue, n] of free) {
      waiters.ready(queue, n);
      bus.hint({ ready: [queue, n] });
    }
    if (dueInMs < SLOW_POLL_MS) {
      arm(dueInMs);
      bus.hint({ dueInMs });
    }
    if (rows.some((r) => !isQuiet(r) && r.settled_token === null)) {
      notices.look();
      bus.hint({ notices: true });
    }
    if (newest(rows).some(isMarked))
      rules.settle(rows).then(after, (error: Error) => {
        log.warn({ err: error.message }, 'rules could not be evaluated, trying again');
      });
  };
  return after;
}

/** How many of those who wait may find something here now. */
function freed(row: Item): number {
  return row.state === 'ready' && !isMarked(row) ? kindOf(row.kind).frees(row) : 0;
}

/** The name under which callers wait for a queue. */
const queueKey = (row: Pick<Item, 'kind' | 'queue'>) => `${row.kind}/${row.queue}`;
