import { Page, pageOf } from '../../contract/common.ts';
import { BuryJob, Job, JobFilter, JobParam, TopicParam } from '../../contract/jobs.ts';
import { TicketEvent, TicketWorkflow } from '../../contract/tickets.ts';
import { coreState } from '../../domain/items.ts';
import { jobView } from '../../domain/jobs.ts';
import * as jobs from '../../services/jobs/jobs.ts';
import { endpoint, ok } from '../endpoint.ts';
import { eventPage } from '../events.ts';
import { page } from '../paging.ts';
import { askWorkflow } from '../workflows.ts';

export const getJob = endpoint('getJob', 'GET /v1/jobs/{id}', {
  tag: 'Jobs',
  summary: 'A job in whatever state it is',
  roles: ['producer', 'consumer'],
  scope: { item: ({ params }) => ['job', params.id] },
  params: JobParam,
  answers: { 200: Job },
  problems: ['not_found'],
  handle: async ({ ctx, params: { id } }) => ok(jobView(await jobs.find(ctx, id))),
});

export const listJobEvents = endpoint('listJobEvents', 'GET /v1/jobs/{id}/events', {
  tag: 'Jobs',
  summary: "A job's whole history, oldest first",
  roles: ['producer', 'consumer'],
  scope: { item: ({ params }) => ['job', params.id] },
  params: JobParam,
  query: Page,
  answers: { 200: pageOf(TicketEvent) },
  problems: ['not_found'],
  async handle({ ctx, params: { id }, query }) {
    await jobs.find(ctx, id);
    return ok(await eventPage(ctx, 'job', id, query));
  },
});

export const jobWorkflow = endpoint('getJobWorkflow', 'GET /v1/jobs/{id}/workflow', {
  tag: 'Jobs',
  summary: "What the job's workflow itself says",
  roles: ['producer', 'consumer'],
  scope: { item: ({ params }) => ['job', params.id] },
  params: JobParam,
  answers: { 200: TicketWorkflow },
  problems: ['not_found'],
  handle: async ({ api, ctx, params: { id } }) => ok(await askWorkflow(api, await jobs.find(ctx, id))),
});

export const buryJob = endpoint('buryJob', 'POST /v1/jobs/{id}/bury', {
  tag: 'Jobs',
  summary: 'Put an open job aside until it is kicked, without its token: whoever has it reserved loses it',
  roles: ['consumer'],
  scope: { item: ({ params }) => ['job', params.id] },
  params: JobParam,
  body: BuryJob,
  answers: { 200: Job },
  problems: ['not_found', 'not_open'],
  async handle({ ctx, caller, params: { id }, body: { reason } }) {
    return ok(jobView(await jobs.buryOpen(ctx, id, caller.actor, reason)));
  },
});

export const listTopicJobs = endpoint('listTopicJobs', 'GET /v1/topics/{topic}/jobs', {
  tag: 'Jobs',
  summary: 'The jobs of a topic, newest first',
  roles: ['producer', 'consumer'],
  scope: { queue: ({ params }) => params.topic },
  params: TopicParam,
  query: JobFilter,
  answers: { 200: pageOf(Job) },
  async handle({ ctx, params: { topic }, query: { limit, cursor, state } }) {
    const before = cursor && { createdAt: cursor[0], seq: cursor[1] };
    const filter = { queue: topic, state: state && coreState('job', state), before };
    const rows = await jobs.list(ctx, filter, limit + 1);
    return ok(page(rows, limit, jobView, (i) => `${i.created_at.toISOString()}_${i.seq}`));
  },
});
