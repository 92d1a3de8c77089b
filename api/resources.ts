import { IdParam, QueueParam } from '../contract/common.ts';
import { CourtParam } from '../contract/courts.ts';
import { JobParam, TopicParam } from '../contract/jobs.ts';
import type { Kind } from '../contract/snapshot.ts';
import { GroupParam } from '../contract/tasks.ts';

// What the endpoints about one resource share: the parameters of their path, and what a key bound to queues must have.

type Path<Name extends string> = { params: Record<Name, string> };

const item = (kind: Kind) => ({ item: ({ params }: Path<'id'>): [Kind, string] => [kind, params.id] });
const queue = <Name extends string>(name: Name) => ({ queue: ({ params }: Path<Name>) => params[name] });
const task = { task: ({ params }: Path<'id'>) => params.id };

export const ticketById = { tag: 'Tickets', params: IdParam, scope: item('ticket') } as const;
export const jobById = { tag: 'Jobs', params: JobParam, scope: item('job') } as const;
export const caseById = { tag: 'Cases', params: IdParam, scope: item('case') } as const;
export const taskById = { tag: 'Tasks', params: IdParam, scope: task } as const;
export const reviewById = { tag: 'Reviews', params: IdParam, scope: 'unbound' } as const;
export const queueByName = { tag: 'Queues', params: QueueParam, scope: queue('queue') } as const;
export const topicByName = { tag: 'Jobs', params: TopicParam, scope: queue('topic') } as const;
export const courtByName = { tag: 'Courts', params: CourtParam, scope: queue('court') } as const;
export const groupById = { tag: 'Tasks', params: GroupParam, scope: queue('gid') } as const;
