import type { CASE_STATES } from '../contract/cases.ts';
import type { Item } from '../contract/items.ts';
import type { JOB_STATES } from '../contract/jobs.ts';
import { KINDS } from '../contract/kinds.ts';
import type { CoreState, Driven, Kind } from '../contract/snapshot.ts';
import type { OCCURRENCE_STATES } from '../contract/tasks.ts';
import type { TICKET_STATES } from '../contract/tickets.ts';
import type { EventOf } from './lifecycle.ts';

/** By kind the words that its users know its states by. */
export interface StateWords {
  ticket: (typeof TICKET_STATES)[number];
  job: (typeof JOB_STATES)[number];
  case: (typeof CASE_STATES)[number];
  task: (typeof OCCURRENCE_STATES)[number];
  rotation: 'active' | 'deleted' | 'ended';
}

/** What its workflow is to Temporal. */
interface Workflow {
  /** The name of its type, as operators know it. */
  type: string;
  /** Whether it may come back after its workflow has completed. */
  reopens: boolean;
  /** A caller waits for it, and it is mostly not running: it is published before all others, and started at once. */
  urgent: boolean;
}

/** All in which kinds of items differ outside of their own files. */
interface KindOf<K extends Kind> {
  /** Several of it, as a heading. */
  title: string;
  /** Its words for the states of the core that it can be in. */
  words: Partial<Record<CoreState, StateWords[K]>>;
  /** `one`: it is `held` by one at a time. `several`: holders share its capacity. */
  leased: 'one' | 'several' | 'never';
  workflow: Workflow;
  /** Where the API shows one of them by its id alone. */
  path: string | null;
  /** Its queues are courts: their settings are applied to cases one by one, and jurors are invited to them. */
  court: boolean;
  /** The function of db/functions that does what time does to it. */
  clock: 'advance_items' | 'advance_cases' | 'advance_tasks' | 'advance_rotations';
  /** What becomes of one whose last attempt ran out; null: attempts are not counted. */
  exhausted: 'dead' | 'buried' | null;
  /** Its order in its queue: the lowest number first, or the longest waiting less what its priority is worth. */
  order: 'number' | 'age';
  /** Events that no holder has to hear of. */
  quiet: readonly EventOf<K>[];
  /** How many waiters may find something here after an event that left it ready. */
  frees(row: Pick<Item, 'last_event' | 'room'>): number;
}

const untilItsEnd = (type: string): Workflow => ({ type, reopens: false, urgent: false });
const reopened = (type: string): Workflow => ({ type, reopens: true, urgent: false });

const oneEach = () => 1;

/** After a dispatch or a completion there is no more to hand out than before. */
const stockOfTask: KindOf<'task'>['frees'] = ({ last_event, room }) =>
  last_event === 'dispatched' || last_event === 'completed' ? 0 : (room ?? 0);

const TABLE: { readonly [K in Kind]: KindOf<K> } = {
  ticket: {
    title: 'Tickets',
    words: {
      delayed: 'delayed',
      ready: 'waiting',
      held: 'held',
      settled: 'decided',
      invalidated: 'invalidated',
      expired: 'expired',
      dead: 'dead',
    },
    leased: 'one',
    workflow: untilItsEnd('ticket'),
    path: '/v1/tickets/{id}',
    court: false,
    clock: 'advance_items',
    exhausted: 'dead',
    order: 'age',
    quiet: ['created', 'available', 'claimed'],
    frees: oneEach,
  },
  job: {
    title: 'Jobs',
    words: {
      delayed: 'delayed',
      ready: 'ready',
      held: 'reserved',
      buried: 'buried',
      settled: 'finished',
      invalidated: 'deleted',
    },
    leased: 'one',
    workflow: untilItsEnd('job'),
    path: '/v1/jobs/{id}',
    court: false,
    clock: 'advance_items',
    exhausted: 'buried',
    order: 'number',
    quiet: ['created', 'available', 'reserved', 'kicked'],
    frees: oneEach,
  },
  case: {
    title: 'Cases',
    words: { ready: 'open', settled: 'decided', expired: 'hung', invalidated: 'invalidated' },
    leased: 'several',
    workflow: untilItsEnd('courtCase'),
    path: '/v1/cases/{id}',
    court: true,
    clock: 'advance_cases',
    exhausted: null,
    order: 'age',
    quiet: ['created', 'claimed'],
    frees: oneEach,
  },
  task: {
    title: 'Occurrences of tasks',
    words: { delayed: 'delayed', ready: 'due', settled: 'completed', expired: 'expired', invalidated: 'cancelled' },
    leased: 'several',
    workflow: reopened('task'),
    path: null,
    court: false,
    clock: 'advance_tasks',
    exhausted: null,
    order: 'age',
    quiet: ['created', 'available', 'dispatched', 'completed'],
    frees: stockOfTask,
  },
  rotation: {
    title: 'Rotating tasks',
    words: { delayed: 'active', expired: 'ended', invalidated: 'deleted' },
    leased: 'never',
    workflow: reopened('rotation'),
    path: null,
    court: false,
    clock: 'advance_rotations',
    exhausted: null,
    order: 'age',
    quiet: ['created'],
    frees: () => 0,
  },
};

/** A review is no item: its workflow runs only while it has callbacks to apply or changes to deliver. */
const REVIEW: Workflow = { type: 'review', reopens: true, urgent: true };

export const kindOf = <K extends Kind>(kind: K): KindOf<K> => TABLE[kind];

/** The kind of the item that an endpoint's path names by `{id}` alone, if there is one. */
export const kindAt = (path: string): Kind | undefined =>
  KINDS.find((kind) => {
    const own = kindOf(kind).path;
    return own !== null && path.startsWith(own);
  });

export const isItem = (kind: Driven): kind is Kind => kind !== 'review';

export const workflowOf = (kind: Driven): Workflow => (isItem(kind) ? TABLE[kind].workflow : REVIEW);

/** The id of a workflow: one of each item and review. */
export const workflowId = ({ kind, id }: { kind: Driven; id: string }): string => `${kind}/${id}`;

export const isQuiet = ({ kind, last_event }: Pick<Item, 'kind' | 'last_event'>): boolean =>
  kindOf(kind).quiet.some((event) => event === last_event);
