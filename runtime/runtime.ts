import type { Client } from '@temporalio/client';
import { openDb } from '../db/pool.ts';
import { publishing } from './commits.ts';
import { Feed } from './feed.ts';
import { Follower, type FollowerOptions } from './followers/follower.ts';
import { Load } from './load.ts';
import { Maintenance } from './maintenance.ts';
import { ProcessMetrics } from './metrics.ts';
import { Notices } from './notices.ts';
import { Bus, type Hint } from './notify.ts';
import { createPacemaker } from './pacemaker.ts';
import { Schemas } from './schemas/schemas.ts';
import { Secrets } from './secrets.ts';
import type { Tracing } from './tracing.ts';
import { createTurns } from './turns.ts';
import { POLL_STEPS, Waiters } from './waiting.ts';
import { createWaker } from './waker.ts';

export interface RuntimeOptions extends Omit<FollowerOptions, 'db' | 'callers'> {
  databaseUrl: string;
  client: Client;
  /** Where other processes and clients reach this one; null for a worker. */
  url: string | null;
  role: 'api' | 'worker' | 'all';
  poolSize: number;
  secretKeys: Buffer[] | undefined;
  /** Undefined: traces are switched off. */
  tracing: Tracing | undefined;
}

const ALL = 100_000;
const SLOW_POLL_MS = 5_000;

/** The parts that every process of Docket has: the database, and the listeners of its commits. */
export type Runtime = ReturnType<typeof createRuntime>;

export function createRuntime(o: RuntimeOptions) {
  const { node, log, client, tracing } = o;
  const onError = (error: Error) => log.warn({ err: error.message }, 'a database connection was lost');
  const load = new Load();
  const onMove = (statement: string, ms: number) => load.took(statement, ms);
  const { db, inTurn } = createTurns(load, openDb({ url: o.databaseUrl, node, max: o.poolSize, onError, onMove }));
  const waiters = new Waiters(load);
  const notices = new Notices(db, log);
  const feed = new Feed(db, log);
  const schemas = new Schemas();
  const secrets = new Secrets(o.secretKeys);
  // publishes to the workflows, once the worker of this process starts it
  const follower = o.role === 'api' ? undefined : new Follower({ ...o, db, callers: load });
  const waker = o.role === 'api' ? undefined : createWaker(db, client, log);
  const pacemaker = createPacemaker(db, log);
  const arm = o.pacemaker ? pacemaker.arm : () => {};
  const onHint = (hint: Hint) => {
    for (const [key, n] of Object.entries(hint.ready ?? {})) waiters.ready(key, n);
    if (hint.dueInMs !== undefined) arm(hint.dueInMs);
    if (hint.notices) notices.look();
    if (hint.slowdown !== undefined) load.hear(hint.slowdown);
    if (hint.follow) follower?.look(hint.follow === 'now');
    if (hint.waits) waker?.look();
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
    ...{ schemas, secrets, maintenance, metrics, tracing, inTurn },
    /** Makes followers read now: the log or the marks have something new. */
    follow() {
      follow(true);
      bus.hint({ follow: 'now' });
    },
    /** Makes pacemakers look now: something may be due earlier than they know. */
    rearm() {
      arm(0);
      bus.hint({ dueInMs: 0 });
    },
    /** Wakes all waiters of a queue (`kind/name`). */
    wakeAll(key: string) {
      waiters.ready(key, ALL);
      bus.hint({ ready: [key, ALL] });
    },
    async start() {
      await bus.start();
      await maintenance.start();
      if (o.pacemaker) pacemaker.start();
      waker?.start();
      let step = 0;
      slowPoll = setInterval(() => waiters.pollSome(step++), SLOW_POLL_MS / POLL_STEPS).unref();
    },
    async stop() {
      clearInterval(slowPoll);
      for (const part of [notices, feed]) part.stop();
      await Promise.all([pacemaker.stop(), waker?.stop()]);
      await follower?.stop();
      await maintenance.stop();
      await schemas.close();
      await bus.stop();
      await db.end();
    },
  };
}
