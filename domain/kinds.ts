import type { Item } from '../contract/items.ts';
import { KINDS } from '../contract/kinds.ts';
import type { Driven, Kind } from '../contract/snapshot.ts';
import { courtCase } from './cases.ts';
import { job } from './jobs.ts';
import type { KindOf, Workflow } from './kind.ts';
import { rotation } from './rotations.ts';
import { task } from './tasks.ts';
import { ticket } from './tickets.ts';

/** All kinds of items. */
const TABLE = { ticket, job, case: courtCase, task, rotation } satisfies { readonly [K in Kind]: KindOf };

export type Kinds = typeof TABLE;

/** A review is no item: its workflow runs only while it has callbacks to apply or changes to deliver. */
const REVIEW: Workflow = { type: 'review', reopens: true, urgent: true };

export const kindOf = (kind: Kind): KindOf => TABLE[kind];

export const isItem = (kind: Driven): kind is Kind => kind !== 'review';

export const workflowOf = (kind: Driven): Workflow => (isItem(kind) ? kindOf(kind).workflow : REVIEW);

/** The kind of items that have workflows of this type, if there is one. */
export const kindOfWorkflow = (type: string): Kind | undefined =>
  KINDS.find((kind) => kindOf(kind).workflow.type === type);

/** The id of a workflow: one of each item and review. */
export const workflowId = ({ kind, id }: { kind: Driven; id: string }): string => `${kind}/${id}`;

export const isQuiet = ({ kind, last_event }: Pick<Item, 'kind' | 'last_event'>): boolean =>
  kindOf(kind).quiet.includes(last_event);
