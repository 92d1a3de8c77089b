import { Page, pageOf } from '../../contract/common.ts';
import { Job, JobFilter, JobParam, TopicParam } from '../../contract/jobs.ts';
import { TicketEvent, TicketWorkflow } from '../../contract/tickets.ts';
import { getItem, type Item, listItems } from '../../db/items.ts';
import { coreState } from '../../domain/items.ts';
import { jobView } from '../../domain/jobs.ts';
import { Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import { endpoint, ok } from '../endpoint.ts';
import { eventPage } from '../events.ts';
import { page } from '../paging.ts';
import { askWorkflow } from '../workflows.ts';

/** @throws Problem `not_found` */
async function findJob(api: Api, id: string): Promise<Item> {
  const item = await getItem(api.runtime.db, 'job', id);
  if (!item) throw new Problem('not_found', `there is no job ${id}`);
  return item;
}

export const getJob = endpoint({
  method: 'get',
  path: '/v1/jobs/{id}',
  tag: 'Jobs',
  summary: 'A job in whatever state it is',
  roles: ['producer', 'consumer'],
  params: JobParam,
  answers: { 200: Job },
  problems: ['not_found'],
  handle: async ({ api, params: { id } }) => ok(jobView(await findJob(api, id))),
});

export const listJobEvents = endpoint({
  method: 'get',
  path: '/v1/jobs/{id}/events',
  tag: 'Jobs',
  summary: "A job's whole history, oldest first",
  roles: ['producer', 'consumer'],
  params: JobParam,
  query: Page,
  answers: { 200: pageOf(TicketEvent) },
  problems: ['not_found'],
  async handle({ api, params: { id }, query }) {
    await findJob(api, id);
    return ok(await eventPage(api, 'job', id, query));
  },
});

export const jobWorkflow = endpoint({
  method: 'get',
  path: '/v1/jobs/{id}/workflow',
  tag: 'Jobs',
  summary: "What the job's workflow itself says",
  roles: ['producer', 'consumer'],
  params: JobParam,
  answers: { 200: TicketWorkflow },
  problems: ['not_found'],
  handle: async ({ api, params: { id } }) => ok(await askWorkflow(api, await findJob(api, id))),
});

export const listTopicJobs = endpoint({
  method: 'get',
  path: '/v1/topics/{topic}/jobs',
  tag: 'Jobs',
  summary: 'The jobs of a topic, newest first',
  roles: ['producer', 'consumer'],
  params: TopicParam,
  query: JobFilter,
  answers: { 200: pageOf(Job) },
  async handle({ api, params: { topic }, query: { limit, cursor, state } }) {
    const at = cursor;
    const before = at && { createdAt: at[0], seq: at[1] };
    const filter = { queue: topic, state: state && coreState('job', state), before };
    const rows = await listItems(api.runtime.db.lists, 'job', filter, limit + 1);
    return ok(page(rows, limit, jobView, (i) => `${i.created_at.toISOString()}_${i.seq}`));
  },
});
