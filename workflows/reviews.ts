import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import type { ReviewActivities } from '../activities/reviews.ts';
import type { ReviewInput, ReviewRunView } from '../contract/snapshot.ts';
import { bookkeeping, receivers } from './deliveries.ts';
import { follower, inDatabase, isFailure, isHeavy, pause, titled, whenCancelled } from './runs.ts';

/** How long a run stays after its last callback: a burst is mostly over by then. */
const IDLE_MS = 10_000;

const db = inDatabase<ReviewActivities>();
const stateQuery = defineQuery<ReviewRunView>('state');

/** What one run knows; what came and what is applied is in Postgres. */
interface Run {
  id: string;
  /** Something came that has not been looked at yet. */
  news: boolean;
  signals: number;
  /** How many times in a row what has come could not be applied. */
  failures: number;
  /** Callbacks whose outcome this run has seen to. */
  resolved: number;
  version: number | null;
  /** The delivery that comes next; null: the receiver knows everything. */
  telling: number | null;
  leaving: boolean;
}

/**
 * One review (S1.2): applies what has come, in order, and tells its receiver of each change. Any number of
 * callbacks that come together are one batch. It ends when nothing has come for a while, or at once where it is
 * brief; the next callback starts it again. Id `review/<id>`.
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
  await CancellationScope.nonCancellable(async () => {
    let lane: Promise<void> | undefined;
    for (;;) {
      if (run.news) await apply(run);
      if (run.leaving && !run.news) return;
      if (isHeavy(run.signals)) await continueAsNew<typeof review>({ id });
      if (run.news) continue;
      if (run.telling !== null)
        lane ??= tell(run).finally(() => {
          lane = undefined;
        });
      const stirred = () => run.news || run.leaving;
      if (lane) await condition(() => stirred() || lane === undefined);
      // what had come before it looked is applied, and what comes from here on has its signal behind it
      else if (brief) return;
      else if (!(await condition(stirred, IDLE_MS, { summary: 'it ends unless another callback comes' }))) {
        // the last look: what comes from here on has its signal behind it, and starts another run if need be
        await apply(run);
        if (!run.news && run.telling === null) return;
      }
    }
  });
}

function listen(run: Run): void {
  setHandler(stateQuery, () => view(run), { description: 'What it does now, the version, and the next delivery.' });
  // last: it takes at once whatever came before the run had begun
  setDefaultSignalHandler(() => {
    run.news = true;
    run.signals++;
  });
  // an operator who cancels ends this run, not what has come: that is applied first
  whenCancelled(() => {
    run.leaving = true;
  });
}

/** Applies what has come; while the database can't be reached, tries again. */
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
 * Tells the receiver one change after the other, for days if need be; callbacks are applied meanwhile.
 * Stops between two where the next run has to go on.
 */
async function tell(run: Run): Promise<void> {
  for (let n = run.telling; n !== null && !isHeavy(run.signals); n = run.telling) {
    // what is applied meanwhile says so here
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

/** What the Temporal UI shows on top of a workflow. */
function show(run: Run): void {
  follower.ran();
  const { state, version, resolved, telling } = view(run);
  const lines = [`**${titled(state)}** (version ${version})`, `${resolved} callbacks resolved by this run`];
  setCurrentDetails([...lines, telling === null ? '' : `next delivery ${telling}`].filter(Boolean).join('\n\n'));
}
