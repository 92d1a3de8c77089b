import * as wf from '@temporalio/workflow';
import type { ItemActivities, Read } from '../activities/items.ts';
import type * as contract from '../contract/snapshot.ts';
import { grace, isFinal, lastEvents, newest, stateWord } from '../domain/items.ts';
import { ending, refusalOf, type SignalArg, signalsOf } from './commands.ts';
import { bookkeeping, receivers } from './deliveries.ts';
import { follower, inDatabase, isFailure, isHeavy, MAX_SIGNALS, pause, titled, whenCancelled } from './runs.ts';

const MIN_SLEEP_MS = 1_000;
/** Delay of the next round of invitations where no juror was free. */
const NOBODY_MS = 30_000;
/** Less than a workflow is remembered after its end, so that a second one of its id is refused. */
const FRESH_MS = 60_000;

const db = inDatabase<ItemActivities>();
const operators = wf.proxyActivities<ItemActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
});
const stateQuery = wf.defineQuery<contract.ItemView>('state');
const STATE_DESCRIPTION = 'State, version, holder, next wake time and last events.';

/** The state of one run; everything else is in PostgreSQL. */
interface Run {
  kind: contract.Kind;
  id: string;
  snapshot: contract.Snapshot | undefined;
  graced: boolean;
  events: contract.EventLine[];
  commands: contract.Command[];
  commandsDone: number;
  signals: number;
  /** Whether a follower of the log has sent something since the item's end. */
  published: boolean;
}

/**
 * Drives one item through time: sleeps until its wake time or a signal, makes due transitions, carries out operators'
 * commands, and at the end delivers the outcome. PostgreSQL decides; this is the durable clock. It trusts the snapshot
 * that it was started with only while that is fresh, because a start may arrive after the item's end
 * (docs/ARCHITECTURE.md).
 */
export async function driveItem(kind: contract.Kind, input: contract.ItemInput): Promise<contract.ItemResult> {
  const run: Run = {
    kind,
    id: input.id,
    snapshot: (input.carried ?? input.startedWith?.message)?.snapshot,
    graced: input.startedWith?.graced ?? true,
    events: (input.carried ?? input.startedWith?.message)?.events ?? [],
    commands: input.carried?.commands ?? [],
    commandsDone: 0,
    signals: 0,
    published: false,
  };
  listen(run);
  await wf.CancellationScope.nonCancellable(async () => {
    if (isFresh(input)) show(run);
    else await refresh(run, () => db.readItem(kind, run.id));
    await drive(run);
    while (run.published && wf.patched('added-again')) {
      await refresh(run, () => db.readItem(kind, run.id));
      await drive(run);
    }
  });
  const { state, version } = view(run);
  return { state, version };
}

/** Runs until the outcome is delivered. A message that comes later is about an item that was added again under this id. */
async function drive(run: Run): Promise<void> {
  while (run.snapshot && !(isFinal(run.snapshot.state) && run.commands.length === 0)) {
    if (isHeavy(run.signals)) await handOver(run);
    if (run.commands.length > 0) await obey(run);
    else if (run.snapshot.inviting) await invite(run);
    else await rest(run, run.snapshot);
  }
  run.published = false;
  if (run.snapshot?.telling) await obeyDuring(run, deliver(run));
  while (run.snapshot && run.commands.length > 0) await obey(run);
}

/** Whether the snapshot was read shortly before this run started, by clocks that may differ by some seconds. */
function isFresh({ startedWith }: contract.ItemInput): boolean {
  return (
    startedWith !== undefined &&
    Math.abs(wf.workflowInfo().startTime.getTime() - Date.parse(startedWith.readAt)) < FRESH_MS
  );
}

/** Whether a follower of the log has sent it; all other signals come from operators. */
const isPublished = (arg: unknown): arg is contract.Message => {
  const { snapshot, events } = (arg ?? {}) as Partial<contract.Message>;
  return typeof snapshot?.version === 'number' && typeof snapshot.state === 'string' && Array.isArray(events);
};

/** Signals only change the state of the run; the loop acts on it. */
function listen(run: Run): void {
  const signals = signalsOf(run.kind);
  const obeyLater = (command: contract.Command) => {
    run.signals++;
    // it is not carried out on a later run of the id
    run.commands.push({ ...command, ...(run.snapshot && { version: run.snapshot.version }) });
  };
  /** Runs that began before such signals were noted have dropped them, and must do so when they are replayed. */
  const refuse = (...refused: Parameters<typeof refusalOf>) => {
    if (wf.patched('refused-signals')) obeyLater(refusalOf(...refused));
  };
  for (const [name, { description, ask }] of signals) {
    const handle = (arg: SignalArg) => {
      const command = ask(arg);
      if (typeof command === 'string') refuse(name, 'invalid_argument', command, arg);
      else obeyLater(command);
    };
    wf.setHandler(wf.defineSignal<[SignalArg]>(name), handle, { description });
  }
  wf.setHandler(stateQuery, () => view(run), { description: STATE_DESCRIPTION });
  const known = signals.map(([name]) => name).join(', ');
  // last: it receives buffered signals at once, also operators' commands that have no handler by then
  wf.setDefaultSignalHandler((name, ...args) => {
    const [sent] = args;
    run.signals++;
    if (!isPublished(sent)) return refuse(name, 'unknown_signal', `this workflow takes ${known}`, sent);
    const wasFinal = run.snapshot !== undefined && isFinal(run.snapshot.state);
    run.snapshot = newest(run.snapshot, sent.snapshot);
    // an item that was added again counts its events from 1
    const isAnother = wasFinal && !isFinal(run.snapshot.state);
    run.events = isAnother ? sent.events : lastEvents(run.events, sent.events);
    run.published = true;
    show(run);
  });
  whenCancelled(() => obeyLater(ending({ reason: 'workflow cancelled' })));
}

/** Invites the jurors that the case lacks (S2.1); where none is free, rests before the next round. */
async function invite(run: Run): Promise<void> {
  await refresh(run, () => db.inviteJurors(run.id));
  const known = run.snapshot;
  if (known?.inviting) await rest(run, known, NOBODY_MS);
}

/** Waits for a signal or the wake time, and makes the transitions that are due then. @param mostMs maximum wait */
async function rest(run: Run, known: contract.Snapshot, mostMs?: number): Promise<void> {
  const changed = () => run.snapshot !== known || run.commands.length > 0 || run.signals >= MAX_SIGNALS;
  const extra = run.graced ? grace(run.id) : 0;
  const dueMs = known.wakeInMs === null ? undefined : Math.max(known.wakeInMs + extra, run.graced ? MIN_SLEEP_MS : 1);
  if (dueMs === undefined && mostMs === undefined) return wf.condition(changed);
  const waitMs = Math.min(dueMs ?? Number.POSITIVE_INFINITY, mostMs ?? Number.POSITIVE_INFINITY);
  const summary = waitMs === dueMs ? awaited(run.kind, known) : 'jurors are asked for again';
  if ((await wf.condition(changed, waitMs, { summary })) || waitMs !== dueMs) return;
  await refresh(run, () => db.wakeItem(run.kind, run.id));
  // still overdue: the item's transition fails, or the clock that fired was ahead of the database's
  const after = run.snapshot?.wakeInMs;
  if (typeof after === 'number' && after <= 0) await wf.condition(changed, MIN_SLEEP_MS);
}

/** The reason of a timer, for the Temporal UI. */
function awaited(kind: contract.Kind, { state, holder }: contract.Snapshot): string {
  if (holder) return `the lease of ${holder} ends, or a deadline before that`;
  if (state === 'delayed') return kind === 'rotation' ? 'the next occurrence is due' : 'its delay ends';
  return 'a deadline or an escalation is due';
}

async function obey(run: Run): Promise<void> {
  const command = run.commands.shift();
  if (!command) return;
  const key = `${wf.workflowInfo().runId}/${++run.commandsDone}`;
  await refresh(run, () => operators.operate(run.kind, run.id, key, command));
}

/** Reads the row, again and again while the database cannot be reached. */
async function refresh(run: Run, read: () => Promise<Read | null>): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      const known = run.snapshot;
      const fresh = await read();
      // another item may have been added under this id meanwhile
      if (fresh === null && run.snapshot !== known && wf.patched('added-again')) continue;
      if (fresh === null) run.snapshot = undefined;
      else {
        run.snapshot = newest(run.snapshot, fresh.snapshot);
        run.graced = fresh.graced;
      }
      show(run);
      return;
    } catch (error) {
      if (!isFailure(error)) throw error;
      if (isHeavy(run.signals)) await handOver(run);
      await pause(failures);
    }
  }
}

/** Carries out commands while the outcome is being delivered, which may take days. */
async function obeyDuring(run: Run, delivering: Promise<void>): Promise<void> {
  let over = false;
  const delivered = delivering.finally(() => {
    over = true;
  });
  while (!over) {
    await wf.condition(() => over || run.commands.length > 0);
    await obey(run);
  }
  await delivered;
}

/** Delivers the outcome, for days if need be; records when it could not be delivered (S0.10). */
async function deliver(run: Run): Promise<void> {
  try {
    await receivers.deliverOutcome(run.kind, run.id);
  } catch (error) {
    if (!isFailure(error)) throw error;
    await bookkeeping.giveUpDelivery(run.kind, run.id);
  }
}

async function handOver(run: Run): Promise<void> {
  if (!run.snapshot) return;
  await wf.continueAsNew<(input: contract.ItemInput) => Promise<void>>({
    id: run.id,
    carried: { snapshot: run.snapshot, events: run.events, commands: run.commands },
  });
}

function view(run: Run): contract.ItemView {
  const s = run.snapshot;
  return {
    version: s?.version ?? null,
    state: s ? stateWord(run.kind, s.state) : null,
    wakeAt: s?.wakeAt ?? null,
    holder: s?.holder ?? null,
    events: run.events,
  };
}

/** Shows the state on top of the workflow in the Temporal UI. */
function show(run: Run): void {
  follower.ran();
  const { state, holder, wakeAt, version, events } = view(run);
  const lines = events.map((e) => `- ${e.at} **${e.type}** by ${e.actor}`);
  wf.setCurrentDetails(
    [
      `**${titled(state ?? 'unknown')}**${run.snapshot?.telling ? ', **Delivering**' : ''}${holder ? ` by ${holder}` : ''} (version ${version})`,
      wakeAt ? `next wake ${wakeAt}` : '',
      ...lines,
    ]
      .filter(Boolean)
      .join('\n\n'),
  );
}
