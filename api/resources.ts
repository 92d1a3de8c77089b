import { CourtParam } from '../contract/courts.ts';
import { JobParam, TopicParam } from '../contract/jobs.ts';
import { IdParam, QueueParam } from '../contract/names.ts';
import type { Kind } from '../contract/snapshot.ts';
import { ClientParam, GroupParam, TemplateParam } from '../contract/tasks.ts';

// What the endpoints about one resource share: the parameters of their path, how they treat keys that are bound to queues,
// and the problem for a name that does not exist. Queues, topics and groups may be made by naming them.

type Path<Name extends string> = { params: Record<Name, string> };

/** An endpoint with further problems lists this one, too. */
const problems = ['not_found'] as const;
const item = (kind: Kind) => ({ item: ({ params }: Path<'id'>): [Kind, string] => [kind, params.id] });
const queue = <Name extends string>(name: Name) => ({ queue: ({ params }: Path<Name>) => params[name] });
const task = { task: ({ params }: Path<'id'>) => params.id };

export const ticketById = { tag: 'Tickets', params: IdParam, scope: item('ticket'), problems } as const;
export const jobById = { tag: 'Jobs', params: JobParam, scope: item('job'), problems } as const;
export const caseById = { tag: 'Cases', params: IdParam, scope: item('case'), problems } as const;
export const taskById = { tag: 'Tasks', params: IdParam, scope: task, problems } as const;
export const reviewById = { tag: 'Reviews', params: IdParam, scope: 'unbound', problems } as const;
export const queueByName = { tag: 'Queues', params: QueueParam, scope: queue('queue') } as const;
/** The same where the name must be there already. */
export const knownQueue = { ...queueByName, problems } as const;
export const topicByName = { tag: 'Jobs', params: TopicParam, scope: queue('topic') } as const;
export const knownTopic = { ...topicByName, problems } as const;
export const courtByName = { tag: 'Courts', params: CourtParam, scope: queue('court'), problems } as const;
export const groupById = { tag: 'Tasks', params: GroupParam, scope: queue('gid') } as const;
export const knownGroup = { ...groupById, problems } as const;
export const clientByUid = { tag: 'Tasks', params: ClientParam, scope: 'unbound' } as const;
export const templateById = { tag: 'Tasks', params: TemplateParam, scope: 'unbound', problems } as const;
