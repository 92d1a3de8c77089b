import * as wf from '@temporalio/workflow';
import type { ItemActivities } from '../activities/items.ts';
import type { ReviewInput, ReviewRunView } from '../contract/snapshot.ts';
import { bookkeeping, receivers } from './deliveries.ts';
import { follower, inDatabase, isFailure, isHeavy, pause, titled, whenCancelled } from './runs.ts';

/** How long a run waits for another callback: a burst is mostly over by then. */
const IDLE_MS = 10_000;

const db = inDatabase<ItemActivities>();
const stateQuery = wf.defineQuery<ReviewRunView>('state');

/** The state of one run; callbacks and their outcomes are in PostgreSQL. */
interface Run {
  id: string;
  /** A callback has come that may not be applied yet. */
  news: boolean;
  signals: number;
  /** Failures in a row to apply callbacks. */
  failures: number;
  /** Callbacks that this run has resolved. */
  resolved: number;
  version: number | null;
  /** The next delivery; null: all changes are delivered. */
  telling: number | null;
  leaving: boolean;
}

/**
 * One review (S1.2): applies its callbacks in order, and delivers each change to its receiver. Callbacks that come
 * together are one batch. It ends after a while without callbacks, or at once if it is brief; the next callback starts
 * it again. Id `review/<id>`.
 */
export async function review({ id, brief }: ReviewInput): Promise<void> {
  const run: Run = {
    id,
    news: true,
    signals: 0,
    failures: 0,
    resolved: 0,
    version: null,
    telling: null,
    leaving: false,
  };
  listen(run);
  await wf.CancellationScope.nonCancellable(async () => {
    let lane: Promise<void> | undefined;
    for (;;) {
      if (run.news) await apply(run);
      if (run.leaving && !run.news) return;
      if (isHeavy(run.signals)) await wf.continueAsNew<typeof review>({ id });
      if (run.news) continue;
      if (run.telling !== null)
        lane ??= deliverChanges(run).finally(() => {
          lane = undefined;
        });
      const changed = () => run.news || run.leaving;
      if (lane) await wf.condition(() => changed() || lane === undefined);
      // all callbacks so far are applied, and each later one comes with a signal
      else if (brief) return;
      else if (!(await wf.condition(changed, IDLE_MS, { summary: 'it ends unless another callback comes' }))) {
        // the last look: each later callback comes with a signal, which starts another run if need be
        await apply(run);
        if (!run.news && run.telling === null) return;
      }
    }
  });
}

function listen(run: Run): void {
  wf.setHandler(stateQuery, () => view(run), { description: 'What it does now, the version, and the next delivery.' });
  // last: it receives buffered signals at once
  wf.setDefaultSignalHandler(() => {
    run.news = true;
    run.signals++;
  });
  // cancelling ends this run after the callbacks that have come are applied
  whenCancelled(() => {
    run.leaving = true;
  });
}

/** Applies the callbacks that have come; pauses when the database cannot be reached. */
async function apply(run: Run): Promise<void> {
  run.news = false;
  try {
    const done = await db.applyReview(run.id);
    run.failures = 0;
    run.resolved += done.resolved;
    run.version = done.version;
    run.telling = done.telling ?? run.telling;
    run.news ||= done.more;
  } catch (error) {
    if (!isFailure(error)) throw error;
    run.news = true;
    await pause(++run.failures);
  }
  show(run);
}

/**
 * Delivers one change after the other, for days if need be, while callbacks are applied. Stops between two of them when
 * the run must continue as new.
 */
async function deliverChanges(run: Run): Promise<void> {
  for (let n = run.telling; n !== null && !isHeavy(run.signals); n = run.telling) {
    // `apply` sets it when there is another change meanwhile
    run.telling = null;
    const next = await deliver(run.id, n);
    run.telling = next ?? run.telling;
    show(run);
  }
}

async function deliver(id: string, n: number): Promise<number | null> {
  try {
    return await receivers.deliverChange(id, n);
  } catch (error) {
    if (!isFailure(error)) throw error;
    return bookkeeping.giveUpChange(id, n);
  }
}

function view(run: Run): ReviewRunView {
  const state = run.news ? 'applying' : run.telling === null ? 'idle' : 'delivering';
  return { version: run.version, state, wakeAt: null, resolved: run.resolved, telling: run.telling };
}

/** Shows the state on top of the workflow in the Temporal UI. */
function show(run: Run): void {
  follower.ran();
  const { state, version, resolved, telling } = view(run);
  const lines = [`**${titled(state)}** (version ${version})`, `${resolved} callbacks resolved by this run`];
  wf.setCurrentDetails([...lines, telling === null ? '' : `next delivery ${telling}`].filter(Boolean).join('\n\n'));
}
