import { pageOf } from '../../contract/common.ts';
import { BuryJob, Job, JobFilter } from '../../contract/jobs.ts';
import { coreState } from '../../domain/items.ts';
import { jobView } from '../../domain/jobs.ts';
import * as items from '../../services/items/items.ts';
import * as jobs from '../../services/jobs/jobs.ts';
import { endpoint, ok } from '../endpoint.ts';
import { itemEndpoints } from '../items.ts';
import { jobById, listed, timePosition, topicByName } from '../views.ts';

export const getJob = endpoint('getJob', 'GET /v1/jobs/{id}', {
  ...jobById,
  summary: 'A job in any state',
  roles: ['producer', 'consumer', 'supervisor'],
  answers: { 200: Job },
  handle: async ({ ctx, params: { id } }) => ok(jobView(await jobs.find(ctx, id))),
});

export const buryJob = endpoint('buryJob', 'POST /v1/jobs/{id}/bury', {
  ...jobById,
  summary: 'Bury an open job without its token, until it is kicked; a reservation ends',
  roles: ['consumer', 'supervisor'],
  body: BuryJob,
  answers: { 200: Job },
  problems: ['not_found', 'not_open'],
  async handle({ ctx, caller, params: { id }, body: { reason } }) {
    return ok(jobView(await jobs.buryOpen(ctx, id, caller.actor, reason)));
  },
});

export const listTopicJobs = endpoint('listTopicJobs', 'GET /v1/topics/{topic}/jobs', {
  ...topicByName,
  summary: 'The jobs of a topic, newest first',
  roles: ['producer', 'consumer', 'supervisor'],
  query: JobFilter,
  answers: { 200: pageOf(Job) },
  async handle({ ctx, params: { topic }, query: { limit, cursor, state } }) {
    const filter = { queue: topic, state: state && coreState('job', state), before: cursor };
    return listed(items.list(ctx, 'job', filter, limit + 1), limit, jobView, (job) =>
      timePosition(job.created_at, job),
    );
  },
});

export const oneJob = itemEndpoints('job', {
  ...jobById,
  one: 'a job',
  operations: 'Job',
  base: '/v1/jobs/{id}',
  roles: ['producer', 'consumer', 'supervisor'],
  find: jobs.find,
});
