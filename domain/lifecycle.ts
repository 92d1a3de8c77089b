import type { CoreState, Kind } from '../contract/snapshot.ts';

/**
 * The life of one kind: for each of its states the events that an item may have there, and the state that each leads to.
 * More than one where it depends on more than state and event: a delay, a number of attempts, other dispatches.
 * `none`: the item is not there yet. Events are those of its log; a transition has exactly one.
 */
type Lifecycle<State extends CoreState, Event extends string> = {
  readonly [From in State | 'none']: { readonly [E in Event]?: State | readonly State[] };
};

/** Events that leave the state as it is. */
function stays<State extends CoreState, Event extends string>(state: State, ...events: Event[]) {
  return Object.fromEntries(events.map((event) => [event, state])) as Record<Event, State>;
}

type Delivery = 'delivered' | 'delivery_failed';
/** `parked`: its transition failed and is tried again in a minute. `refused`: a call or a command came too late, or makes no sense. */
type Common = 'created' | 'parked' | 'refused';

type TicketEvent =
  | Common
  | Delivery
  | 'available'
  | 'claimed'
  | 'decided'
  | 'released'
  | 'skipped'
  | 'transferred'
  | 'changed'
  | 'escalated'
  | 'reclaimed'
  | 'invalidated'
  | 'expired'
  | 'dead';
type TicketState = 'delayed' | 'ready' | 'held' | 'settled' | 'invalidated' | 'expired' | 'dead';

const endsOfTicket = { decided: 'settled', invalidated: 'invalidated', expired: 'expired' } as const;

const ticket: Lifecycle<TicketState, TicketEvent> = {
  none: { created: ['ready', 'delayed'] },
  delayed: {
    available: 'ready',
    ...endsOfTicket,
    ...stays('delayed', 'changed', 'transferred', 'escalated', 'parked', 'refused'),
  },
  ready: {
    claimed: 'held',
    ...endsOfTicket,
    ...stays('ready', 'changed', 'transferred', 'escalated', 'parked', 'refused'),
  },
  held: {
    released: ['ready', 'delayed'],
    skipped: ['ready', 'delayed'],
    reclaimed: 'ready',
    transferred: 'ready',
    dead: 'dead',
    ...endsOfTicket,
    ...stays('held', 'changed', 'escalated', 'parked', 'refused'),
  },
  settled: stays('settled', 'delivered', 'delivery_failed', 'refused'),
  invalidated: stays('invalidated', 'delivered', 'delivery_failed', 'refused'),
  expired: stays('expired', 'delivered', 'delivery_failed', 'refused'),
  dead: stays('dead', 'delivered', 'delivery_failed', 'refused'),
};

type JobEvent =
  | Common
  | 'available'
  | 'reserved'
  | 'finished'
  | 'released'
  | 'buried'
  | 'kicked'
  | 'reclaimed'
  | 'deleted';
type JobState = 'delayed' | 'ready' | 'held' | 'buried' | 'settled' | 'invalidated';

/** A job may be finished or deleted in any open state, and reserved by its number. */
const endsOfJob = { finished: 'settled', deleted: 'invalidated' } as const;

const job: Lifecycle<JobState, JobEvent> = {
  none: { created: ['ready', 'delayed'] },
  delayed: {
    available: 'ready',
    reserved: 'held',
    kicked: 'ready',
    ...endsOfJob,
    ...stays('delayed', 'parked', 'refused'),
  },
  ready: { reserved: 'held', ...endsOfJob, ...stays('ready', 'refused') },
  held: {
    released: ['ready', 'delayed'],
    reclaimed: 'ready',
    buried: 'buried',
    ...endsOfJob,
    ...stays('held', 'parked', 'refused'),
  },
  buried: { reserved: 'held', kicked: 'ready', ...endsOfJob, ...stays('buried', 'refused') },
  settled: stays('settled', 'refused'),
  invalidated: stays('invalidated', 'refused'),
};

type CaseEvent =
  | Common
  | Delivery
  | 'claimed'
  | 'invited'
  | 'voted'
  | 'released'
  | 'skipped'
  | 'declined'
  | 'reclaimed'
  | 'extended'
  | 'changed'
  | 'decided'
  | 'hung'
  | 'invalidated'
  | 'escalated';
type CaseState = 'ready' | 'settled' | 'expired' | 'invalidated';

const courtCase: Lifecycle<CaseState, CaseEvent> = {
  none: { created: 'ready' },
  ready: {
    ...stays('ready', 'claimed', 'invited', 'voted', 'released', 'skipped', 'declined', 'reclaimed'),
    ...stays('ready', 'extended', 'changed', 'parked', 'refused'),
    decided: 'settled',
    hung: 'expired',
    invalidated: 'invalidated',
  },
  settled: stays('settled', 'delivered', 'delivery_failed', 'refused'),
  expired: stays('expired', 'escalated', 'delivered', 'delivery_failed', 'refused'),
  invalidated: stays('invalidated', 'delivered', 'delivery_failed', 'refused'),
};

type TaskEvent =
  | Common
  | Delivery
  | 'available'
  | 'dispatched'
  | 'completed'
  | 'returned'
  | 'changed'
  | 'expired'
  | 'cancelled'
  | 'rescheduled';
type TaskState = 'delayed' | 'ready' | 'settled' | 'expired' | 'invalidated';

/** An occurrence with dispatches ends with the last of them, as completed if any was. */
const task: Lifecycle<TaskState, TaskEvent> = {
  none: { created: ['ready', 'delayed'] },
  delayed: {
    available: 'ready',
    changed: ['delayed', 'expired'],
    expired: 'expired',
    cancelled: 'invalidated',
    ...stays('delayed', 'parked', 'refused'),
  },
  ready: {
    dispatched: 'ready',
    completed: ['ready', 'settled'],
    returned: ['ready', 'settled', 'expired', 'invalidated'],
    changed: ['ready', 'settled', 'expired'],
    expired: ['ready', 'settled', 'expired'],
    cancelled: ['ready', 'settled', 'invalidated'],
    ...stays('ready', 'parked', 'refused'),
  },
  settled: stays('settled', 'delivered', 'delivery_failed', 'refused'),
  expired: stays('expired', 'refused'),
  invalidated: { rescheduled: ['ready', 'delayed'], ...stays('invalidated', 'refused') },
};

type RotationEvent = Common | 'changed' | 'ended' | 'deleted';
type RotationState = 'delayed' | 'expired' | 'invalidated';

const rotation: Lifecycle<RotationState, RotationEvent> = {
  none: { created: 'delayed' },
  delayed: { ended: 'expired', deleted: 'invalidated', ...stays('delayed', 'changed', 'parked', 'refused') },
  expired: { changed: 'delayed', ...stays('expired', 'refused') },
  invalidated: stays('invalidated', 'refused'),
};

interface Events {
  ticket: TicketEvent;
  job: JobEvent;
  case: CaseEvent;
  task: TaskEvent;
  rotation: RotationEvent;
}

/** The events of a kind. */
export type EventOf<K extends Kind> = Events[K];

const LIFECYCLES: {
  readonly [K in Kind]: Partial<Lifecycle<CoreState, EventOf<K>>>;
} = { ticket, job, case: courtCase, task, rotation };

/** One entry of the table. */
export interface Transition {
  from: CoreState | 'none';
  event: string;
  to: CoreState;
}

/** Every transition that an item of a kind can make. */
export function transitionsOf(kind: Kind): Transition[] {
  return Object.entries(LIFECYCLES[kind]).flatMap(([from, events]) =>
    Object.entries(events).flatMap(([event, to]) =>
      [to].flat().map((state) => ({ from: from as Transition['from'], event, to: state as CoreState })),
    ),
  );
}

/** The states that an event may lead to; empty: it cannot happen to an item in that state. */
export function statesAfter<K extends Kind>(kind: K, from: CoreState | 'none', event: EventOf<K>): CoreState[] {
  return transitionsOf(kind)
    .filter((t) => t.from === from && t.event === event)
    .map((t) => t.to);
}
