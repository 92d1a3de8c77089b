import {
  ActivityFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReviewActivities } from '../activities/reviews.ts';
import type { ReviewInput, ReviewRunView } from '../contract/snapshot.ts';

const MAX_SIGNALS = 500;
const MAX_HISTORY = 1_000;
/** How long a run stays after its last callback: a burst is mostly over by then. */
const IDLE_MS = 10_000;

const db = proxyLocalActivities<ReviewActivities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 2, initialInterval: '200ms' },
});
const receivers = proxyActivities<ReviewActivities>({
  taskQueue: 'docket-deliver',
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '3d',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '3h' },
});
const bookkeeping = proxyActivities<ReviewActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});
const stateQuery = defineQuery<ReviewRunView>('state');

/** What one run knows; what came and what is applied is in Postgres. */
interface Run {
  id: string;
  /** Something came that nobody has looked at yet. */
  news: boolean;
  signals: number;
  /** Callbacks whose outcome this run has seen to. */
  resolved: number;
  version: number | null;
  /** The delivery that comes next; null: the receiver knows everything. */
  telling: number | null;
  leaving: boolean;
}

/**
 * One review (S1.2): applies what has come, in order, and tells its receiver of each change. Any number of
 * callbacks that come together are one batch. It ends when nothing has come for a while; the next callback
 * starts it again. Id `review/<id>`.
 */
export async function review({ id }: ReviewInput): Promise<void> {
  const run: Run = { id, news: true, signals: 0, resolved: 0, version: null, telling: null, leaving: false };
  listen(run);
  await CancellationScope.nonCancellable(async () => {
    let lane: Promise<void> | undefined;
    for (;;) {
      while (run.news) await apply(run);
      if (run.leaving) return;
      if (run.telling !== null)
        lane ??= tell(run).finally(() => {
          lane = undefined;
        });
      if (run.signals >= MAX_SIGNALS || workflowInfo().historyLength >= MAX_HISTORY)
        await continueAsNew<typeof review>({ id });
      const stirred = () => run.news || run.leaving;
      if (lane) await condition(() => stirred() || lane === undefined);
      else if (!(await condition(stirred, IDLE_MS))) {
        // the last look: what comes from here on has its signal behind it, and starts another run if need be
        await apply(run);
        if (!run.news && run.telling === null) return;
      }
    }
  });
}

function listen(run: Run): void {
  setHandler(stateQuery, () => view(run));
  // last: it takes at once whatever came before the run had begun
  setDefaultSignalHandler(() => {
    run.news = true;
    run.signals++;
  });
  // an operator who cancels ends this run, not what has come: that is applied first
  void CancellationScope.current().cancelRequested.catch((error) => {
    if (isCancellation(error)) run.leaving = true;
  });
}

/** Applies what has come; while the database can't be reached, tries again every half minute. */
async function apply(run: Run): Promise<void> {
  run.news = false;
  try {
    const done = await db.applyReview(run.id);
    run.resolved += done.resolved;
    run.version = done.version;
    run.telling = done.telling ?? run.telling;
    run.news ||= done.more;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    run.news = true;
    await sleep(20_000 + Math.random() * 20_000);
  }
  show(run);
}

/** Tells the receiver one change after the other, for days if need be; callbacks are applied meanwhile. */
async function tell(run: Run): Promise<void> {
  for (let n = run.telling; n !== null; n = run.telling) {
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
    if (!(error instanceof ActivityFailure)) throw error;
    return bookkeeping.giveUpChange(id, n);
  }
}

function view(run: Run): ReviewRunView {
  const state = run.news ? 'applying' : run.telling === null ? 'idle' : 'telling';
  return { version: run.version, state, resolved: run.resolved, telling: run.telling };
}

/** What the Temporal UI shows on top of a workflow. */
function show(run: Run): void {
  const { state, version, resolved, telling } = view(run);
  const lines = [`**${state}** (version ${version})`, `${resolved} callbacks resolved by this run`];
  setCurrentDetails([...lines, telling === null ? '' : `next delivery ${telling}`].filter(Boolean).join('\n\n'));
}
