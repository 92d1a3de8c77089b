import type { Client } from '@temporalio/client';
import { type Db, openDb } from '../db/pool.ts';
import { publishing } from './commits.ts';
import { Feed } from './feed.ts';
import { Follower, type FollowerOptions } from './followers/follower.ts';
import { Load } from './load.ts';
import type { Log } from './log.ts';
import { Maintenance } from './maintenance.ts';
import { ProcessMetrics } from './metrics.ts';
import { Notices } from './notices.ts';
import { Bus, type Hint } from './notify.ts';
import { Pacemaker } from './pacemaker.ts';
import { Schemas } from './schemas/schemas.ts';
import { Secrets } from './secrets.ts';
import type { Tracing } from './tracing.ts';
import { POLL_STEPS, Waiters } from './waiting.ts';

export interface RuntimeOptions extends Omit<FollowerOptions, 'db' | 'callers'> {
  databaseUrl: string;
  client: Client;
  /** Where other processes and clients reach this one; null for a worker. */
  url: string | null;
  role: 'api' | 'worker' | 'all';
  poolSize: number;
  secretKeys: Buffer[] | undefined;
  tracing: Tracing | undefined;
}

/** The parts that every process of Docket has: the database, and the listeners of its commits. */
export interface Runtime {
  readonly db: Db;
  readonly client: Client;
  readonly node: string;
  readonly log: Log;
  /** Publishes to the workflows; only in processes with a worker, which starts it. */
  readonly follower: Follower | undefined;
  readonly waiters: Waiters;
  readonly notices: Notices;
  readonly feed: Feed;
  readonly schemas: Schemas;
  readonly maintenance: Maintenance;
  readonly metrics: ProcessMetrics;
  /** Undefined: traces are switched off. */
  readonly tracing: Tracing | undefined;
  /** Seals and opens the secrets of callbacks. */
  readonly secrets: Secrets;
  /** The calls in progress, to which followers yield. */
  readonly load: Load;
  /** Makes followers read now: the log or the marks have something new. */
  follow(): void;
  /** Makes pacemakers look now: something may be due earlier than they know. */
  rearm(): void;
  /** Wakes all waiters of a queue (`kind/name`). */
  wakeAll(key: string): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const ALL = 100_000;
const SLOW_POLL_MS = 5_000;

export function createRuntime(o: RuntimeOptions): Runtime {
  const { node, log, client, tracing } = o;
  const onError = (error: Error) => log.warn({ err: error.message }, 'a database connection was lost');
  const load = new Load();
  const onMove = (statement: string, ms: number) => load.took(statement, ms);
  const db = openDb({ url: o.databaseUrl, node, max: o.poolSize, onError, onMove });
  const waiters = new Waiters(load);
  const notices = new Notices(db, log);
  const feed = new Feed(db, log);
  const schemas = new Schemas();
  const secrets = new Secrets(o.secretKeys);
  const follower = o.role === 'api' ? undefined : new Follower({ ...o, db, callers: load });
  const pacemaker = new Pacemaker(db, log);
  const arm = (ms: number) => {
    if (o.pacemaker) pacemaker.arm(ms);
  };
  const onHint = (hint: Hint) => {
    for (const [key, n] of Object.entries(hint.ready ?? {})) waiters.ready(key, n);
    if (hint.dueInMs !== undefined) arm(hint.dueInMs);
    if (hint.notices) notices.look();
    if (hint.slowdown !== undefined) load.hear(hint.slowdown);
    if (hint.follow) follower?.look(hint.follow === 'now');
    feed.look();
  };
  const publish = (payload: string) => db.run('notify', { payload });
  const bus = new Bus({ url: o.databaseUrl, node, log, onHint, onGap: () => waiters.poll(), publish });
  const follow = (urgent: boolean) => follower?.look(urgent);
  db.onCommit(publishing({ follow, waiters, load, bus, notices, feed, arm }));
  const maintenance = new Maintenance({ ...o, db, follower, bus });
  const metrics = new ProcessMetrics({ waiters, follower });
  let slowPoll: NodeJS.Timeout | undefined;
  return {
    ...{ db, client, node, log, load, follower, waiters, notices, feed },
    ...{ schemas, secrets, maintenance, metrics, tracing },
    follow() {
      follow(true);
      bus.hint({ follow: 'now' });
    },
    rearm() {
      arm(0);
      bus.hint({ dueInMs: 0 });
    },
    wakeAll(key) {
      waiters.ready(key, ALL);
      bus.hint({ ready: [key, ALL] });
    },
    async start() {
      await bus.start();
      await maintenance.start();
      if (o.pacemaker) pacemaker.start();
      let step = 0;
      slowPoll = setInterval(() => waiters.pollSome(step++), SLOW_POLL_MS / POLL_STEPS).unref();
    },
    async stop() {
      clearInterval(slowPoll);
      notices.stop();
      feed.stop();
      await pacemaker.stop();
      await follower?.stop();
      await maintenance.stop();
      await schemas.close();
      await bus.stop();
      await db.end();
    },
  };
}
