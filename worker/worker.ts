import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import {
  bundleWorkflowCode,
  type InjectedSinks,
  type NativeConnection,
  type WorkerOptions as SdkOptions,
  Worker,
} from '@temporalio/worker';
import { deliveryActivities } from '../activities/deliveries.ts';
import { DELIVERY_SLOTS } from '../activities/hosts.ts';
import { itemActivities } from '../activities/items.ts';
import type { FollowerSinks } from '../contract/snapshot.ts';
import { needFolder } from '../runtime/failures.ts';
import * as publisher from '../runtime/followers/publisher.ts';
import type { Context } from '../services/shared/service.ts';
import { nexusService } from './nexus.ts';
import { Pusher } from './pusher.ts';
import { publishing, working } from './tracing.ts';

export interface WorkerOptions {
  ctx: Context;
  connection: NativeConnection;
  namespace: string;
  /** The folder in which bundled workflow code is kept. */
  cacheDir: string;
  pacemaker: boolean;
  /** Queues, courts and topics that Nexus operations may use; none: it has no such worker. */
  nexusQueues: readonly string[];
}

/**
 * Starts the Temporal workers of this process: one for items' workflows and their database activities, one for urgent
 * workflows (reviews, schedules), and one for deliveries, so that slow receivers delay nothing else.
 */
export async function startWorker(o: WorkerOptions) {
  const { ctx, connection, namespace } = o;
  const items = itemActivities(ctx, o.pacemaker);
  const { giveUpDelivery, giveUpChange, ...sending } = deliveryActivities(ctx);
  const bundle = await workflowBundle(o.cacheDir);
  const interceptors = ctx.tracing ? { activity: [working(ctx.tracing)] } : {};
  const create = (taskQueue: string, options: Omit<SdkOptions, 'taskQueue'>) =>
    Worker.create({ connection, namespace, taskQueue, interceptors, ...options });
  const workflowWorkers = [publisher.TASK_QUEUE, publisher.URGENT_TASK_QUEUE].map((taskQueue) =>
    create(taskQueue, {
      workflowBundle: bundle,
      activities: { ...items, giveUpDelivery, giveUpChange },
      sinks: sinksOf(ctx),
      maxCachedWorkflows: 500,
      ...{ maxConcurrentActivityTaskExecutions: 20, maxConcurrentLocalActivityExecutions: 20 },
      ...{ shutdownGraceTime: '5s', shutdownForceTime: '10s' },
    }),
  );
  const outside = create(publisher.DELIVERY_TASK_QUEUE, {
    activities: sending,
    // the calls in flight, and attempts that are being prepared or postponed
    maxConcurrentActivityTaskExecutions: DELIVERY_SLOTS + 10,
    ...{ shutdownGraceTime: '12s', shutdownForceTime: '15s' },
  });
  const workers = await Promise.all([...workflowWorkers, outside]);
  if (o.nexusQueues.length > 0)
    workers.push(
      await create(publisher.NEXUS_TASK_QUEUE, {
        nexusServices: [nexusService(ctx, o.nexusQueues)],
        ...{ shutdownGraceTime: '5s', shutdownForceTime: '10s' },
      }),
    );
  const pusher = new Pusher(ctx);
  pusher.start();
  const running = workers.map((w) => runToEnd(w));
  await publishOver(o);
  const done = Promise.all(running).then(() => {});
  // a worker that dies unobserved must not be an unhandled rejection
  done.catch(() => {});
  return {
    /** Fails when a worker dies. */
    done,
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      // concurrently: a slow receiver must not use up the time that the others have to stop
      await Promise.all([pusher.stop(), ctx.follower?.stop(), Promise.allSettled(running)]);
    },
  };
}

async function publishOver({ ctx: { follower, tracing }, connection, namespace }: WorkerOptions): Promise<void> {
  // it may still use the connection of a worker that died
  await follower?.stop();
  const workflow = tracing ? [publishing(tracing)] : [];
  follower?.start(new Client({ connection, namespace, interceptors: { workflow } }));
}

function sinksOf({ follower }: Context): InjectedSinks<FollowerSinks> {
  return { follower: { ran: { fn: ({ workflowId }) => follower?.ran(workflowId), callDuringReplay: false } } };
}

const POLL_MS = 1_000;

/** `worker.run()`, but it settles when several workers of a process fail together: the SDK leaves some unsettled then. */
async function runToEnd(worker: Worker): Promise<void> {
  let over = false;
  const run = worker.run().finally(() => {
    over = true;
  });
  const settled = run.catch(() => {});
  while (!over && worker.getState() !== 'FAILED')
    await Promise.race([settled, sleep(POLL_MS, undefined, { ref: false })]);
  await Promise.race([run, sleep(POLL_MS, undefined, { ref: false })]);
  if (!over) throw new Error(`the worker of ${worker.options.taskQueue} has failed`);
}

/** The bundle beside compiled code. */
const BUNDLE = fileURLToPath(new URL('../workflows/bundle.cjs', import.meta.url));

/** Bundles workflow code, which takes seconds, or reads the bundle of the same sources from the cache. */
export async function workflowBundle(cacheDir: string): Promise<{ code: string }> {
  if (existsSync(BUNDLE)) return { code: readFileSync(BUNDLE, 'utf8') };
  const file = join(cacheDir, `workflows-${sourceHash()}.cjs`);
  if (existsSync(file)) return { code: readFileSync(file, 'utf8') };
  const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
  // biome-ignore lint/suspicious/noConsole: a bundle that cannot be made has no logger to tell
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  needFolder(cacheDir, 'DOCKET_CACHE');
  // renamed when complete: another process may be starting at this moment
  const part = `${file}.${process.pid}`;
  writeFileSync(part, code);
  renameSync(part, file);
  return { code };
}

/** A hash of all that the bundle is made of: the folders that workflow code may import, and the SDK's version. */
function sourceHash(): string {
  const hash = createHash('sha256');
  for (const folder of ['workflows', 'domain', 'contract']) {
    const path = fileURLToPath(new URL(`../${folder}/`, import.meta.url));
    for (const file of readdirSync(path).sort()) hash.update(file).update(readFileSync(path + file));
  }
  const lock = fileURLToPath(new URL('../package-lock.json', import.meta.url));
  if (existsSync(lock)) hash.update(readFileSync(lock));
  return hash.digest('hex').slice(0, 16);
}
