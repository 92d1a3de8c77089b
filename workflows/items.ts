import {
  ActivityFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ItemActivities, Read } from '../activities/items.ts';
import type { Command, EventLine, ItemInput, ItemView, Kind, Snapshot, Told } from '../contract/snapshot.ts';
import { grace, isFinal, lastEvents, newest, stateWord } from '../domain/items.ts';
import { bookkeeping, receivers } from './deliveries.ts';

const MAX_SIGNALS = 500;
const MAX_HISTORY = 1_000;
const MIN_SLEEP_MS = 1_000;

const db = proxyLocalActivities<ItemActivities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 2, initialInterval: '200ms' },
});
const operators = proxyActivities<ItemActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
});
export const stateQuery = defineQuery<ItemView>('state');
const invalidate = defineSignal<[{ reason?: string; by?: string }?]>('invalidate');
const reprioritize = defineSignal<[{ priority?: number; by?: string }?]>('reprioritize');
const release = defineSignal<[{ by?: string }?]>('release');

/** What one run knows; everything else is in Postgres. */
interface Run {
  kind: Kind;
  id: string;
  snapshot: Snapshot | undefined;
  graced: boolean;
  events: EventLine[];
  commands: Command[];
  commandsDone: number;
  signals: number;
}

/**
 * Drives one item through time: sleeps until its wake time or a signal, does what is due, carries out
 * operators' commands, and at the end delivers the outcome. Postgres decides; this is the clock
 * that survives everything. It trusts no snapshot that it was started with, because a start may
 * land after the item's end (DESIGN §1).
 */
export async function driveItem(kind: Kind, input: ItemInput): Promise<void> {
  const run: Run = {
    kind,
    id: input.id,
    snapshot: input.carried?.snapshot,
    graced: true,
    events: input.carried?.events ?? [],
    commands: input.carried?.commands ?? [],
    commandsDone: 0,
    signals: 0,
  };
  listen(run);
  await CancellationScope.nonCancellable(async () => {
    await refresh(run, () => db.readItem(kind, run.id));
    while (run.snapshot && !(isFinal(run.snapshot.state) && run.commands.length === 0)) {
      if (run.signals >= MAX_SIGNALS || workflowInfo().historyLength >= MAX_HISTORY) await handOver(run);
      if (run.commands.length > 0) await obey(run);
      else await rest(run, run.snapshot);
    }
    if (run.snapshot?.telling) await tell(run);
    while (run.snapshot && run.commands.length > 0) await obey(run);
  });
}

/** Signals change what the run knows and nothing else; the loop acts. */
function listen(run: Run): void {
  setDefaultSignalHandler((_name, ...args) => {
    const told = args[0] as Told | undefined;
    run.signals++;
    if (told?.snapshot === undefined) return;
    run.snapshot = newest(run.snapshot, told.snapshot);
    run.events = lastEvents(run.events, told.events);
    show(run);
  });
  const obeyLater = (command: Command) => {
    run.signals++;
    run.commands.push(command);
  };
  setHandler(invalidate, (arg) =>
    obeyLater({ type: 'invalidate', reason: String(arg?.reason ?? 'by an operator'), by: String(arg?.by ?? 'operator') }),
  );
  setHandler(release, (arg) => obeyLater({ type: 'release', by: String(arg?.by ?? 'operator') }));
  setHandler(reprioritize, (arg) => {
    const priority = Number(arg?.priority);
    if (!Number.isInteger(priority) || Math.abs(priority) > 1_000) return;
    obeyLater({ type: 'reprioritize', priority, by: String(arg?.by ?? 'operator') });
  });
  setHandler(stateQuery, () => view(run));
  void CancellationScope.current().cancelRequested.catch((error) => {
    if (isCancellation(error)) obeyLater({ type: 'invalidate', reason: 'workflow cancelled', by: 'operator' });
  });
}

/** Until a signal, or until the wake time has passed; then what is due is done. */
async function rest(run: Run, known: Snapshot): Promise<void> {
  const stirred = () => run.snapshot !== known || run.commands.length > 0 || run.signals >= MAX_SIGNALS;
  if (known.wakeInMs === null) return condition(stirred);
  const extra = run.graced ? grace(run.id) : 0;
  const signalled = await condition(stirred, Math.max(known.wakeInMs + extra, run.graced ? MIN_SLEEP_MS : 1));
  if (signalled) return;
  await refresh(run, () => db.wakeItem(run.kind, run.id));
  // still overdue: the item's transition fails, or the clock that fired was ahead of the database's
  const after = run.snapshot?.wakeInMs;
  if (typeof after === 'number' && after <= 0) await condition(stirred, MIN_SLEEP_MS);
}

async function obey(run: Run): Promise<void> {
  const command = run.commands.shift();
  if (!command) return;
  const key = `${workflowInfo().runId}/${++run.commandsDone}`;
  await refresh(run, () => operators.operate(run.kind, run.id, key, command));
}

/** Takes the row as the database has it; while it can't be read, tries again every half minute. */
async function refresh(run: Run, read: () => Promise<Read | null>): Promise<void> {
  for (;;) {
    try {
      const fresh = await read();
      if (fresh === null) run.snapshot = undefined;
      else {
        run.snapshot = newest(run.snapshot, fresh.snapshot);
        run.graced = fresh.graced;
      }
      show(run);
      return;
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      await sleep(20_000 + Math.random() * 20_000);
    }
  }
}

/** Delivers the outcome, for days if need be; what can't be delivered is put on record (S0.10). */
async function tell(run: Run): Promise<void> {
  try {
    await receivers.deliverOutcome(run.kind, run.id);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    await bookkeeping.giveUpDelivery(run.kind, run.id);
  }
}

async function handOver(run: Run): Promise<void> {
  if (!run.snapshot) return;
  await continueAsNew<(input: ItemInput) => Promise<void>>({
    id: run.id,
    carried: { snapshot: run.snapshot, events: run.events, commands: run.commands },
  });
}

function view(run: Run): ItemView {
  const s = run.snapshot;
  return {
    version: s?.version ?? null,
    state: s ? stateWord(run.kind, s.state) : null,
    wakeAt: s?.wakeAt ?? null,
    holder: s?.holder ?? null,
    events: run.events,
  };
}

/** What the Temporal UI shows on top of a workflow. */
function show(run: Run): void {
  const { state, holder, wakeAt, version, events } = view(run);
  const lines = events.map((e) => `- ${e.at} **${e.type}** by ${e.actor}`);
  setCurrentDetails(
    [`**${state}**${holder ? ` by ${holder}` : ''} (version ${version})`, wakeAt ? `next wake ${wakeAt}` : '', ...lines]
      .filter(Boolean)
      .join('\n\n'),
  );
}
