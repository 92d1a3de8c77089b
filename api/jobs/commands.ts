import type { z } from '@hono/zod-openapi';
import * as contract from '../../contract/jobs.ts';
import { getItem } from '../../db/items.ts';
import * as jobs from '../../db/jobs.ts';
import { isFinal, stateWord } from '../../domain/items.ts';
import { refusalOf } from '../../domain/refusals.ts';
import { checkEntry, Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { checkValues, problemOf } from '../endpoint.ts';
import { done, failed, handed, type JobAnswerBody, resultOf, unknownJob } from './answers.ts';

export interface Context {
  api: Api;
  caller: Caller;
  signal: AbortSignal;
}

type Of<S extends z.ZodType> = z.output<S>;
type Run<S extends z.ZodType> = (context: Context, command: Of<S>) => Promise<JobAnswerBody>;

/** Why a reservation's token did nothing, in plain words; a repeated `gaveBack` is the first answer again. */
async function refusal({ api }: Context, id: string, token: string, gaveBack = false): Promise<JobAnswerBody> {
  const [found] = await api.runtime.db.run('find_verdict', { kind: 'job', id, token });
  if (!found) return unknownJob(id);
  if (gaveBack && found.named_why === 'released') return done({ id });
  const { detail, code, ...fields } = refusalOf(found);
  return { ...failed(found.overdue ? 'the reservation ran out' : detail, id), code, ...fields };
}

export const add: Run<typeof contract.JobAdd> = async ({ api, caller }, { command: _, ...job }) => {
  const added = await api.services.jobs.add(job, caller.actor);
  if (!added) return failed(`job ${job.id} exists with other content`, job.id, 'id_conflict');
  return done({ id: job.id, already: !added.created });
};

export const addMany: Run<typeof contract.JobAddMany> = async (context, command) => {
  const one = async (sent: unknown) => {
    const id = String((sent as { id?: unknown } | null)?.id ?? '');
    try {
      checkValues(sent);
      checkEntry('job', sent);
      const parsed = contract.NewJob.safeParse(sent);
      if (!parsed.success) throw problemOf(parsed.error, 'job');
      return await add(context, { command: 'add', ...parsed.data });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return failed(error.message, id || null, error.code);
    }
  };
  const results = await Promise.all(command.jobs.map(one));
  return {
    ...done(),
    success: results.every((r) => r.success),
    results: results.map(resultOf),
  };
};

export const pop: Run<typeof contract.JobPop> = async ({ api, caller, signal }, { topic, wait, count }) => {
  const topics = [...new Set(Array.isArray(topic) ? topic : [topic])].sort();
  const holder = caller.subject ?? caller.actor;
  const found = await api.services.jobs.pop({ topics, count: count ?? 1, waitSeconds: wait, holder, signal });
  if (count !== undefined) return done({ jobs: found.map(handed) });
  const [job] = found;
  return job ? done(handed(job)) : done({ token: null, topic: null, attempt: null });
};

export const finish: Run<typeof contract.JobFinish> = async (context, { id, token }) => {
  const { api, caller } = context;
  if (await api.services.jobs.finish(id, token ?? null, caller.actor)) return done({ id });
  const found = await getItem(api.runtime.db, 'job', id);
  if (!found) return unknownJob(id);
  const repeated = found.state === 'settled' && (token === undefined || found.settled_token === token);
  if (repeated) return done({ id });
  return token === undefined
    ? failed(`job ${id} is ${stateWord('job', found.state)}`, id)
    : refusal(context, id, token);
};

export const finishMany: Run<typeof contract.JobFinishMany> = async (context, command) => {
  const results = await Promise.all(command.jobs.map((job) => finish(context, { command: 'finish', ...job })));
  return {
    ...done(),
    success: results.every((r) => r.success),
    results: results.map(resultOf),
  };
};

export const remove: Run<typeof contract.JobDelete> = async ({ api, caller }, { id }) => {
  if (await api.services.jobs.remove(id, caller.actor)) return done({ id });
  const found = await getItem(api.runtime.db, 'job', id);
  return found && isFinal(found.state) ? done({ id }) : unknownJob(id);
};

export const touch: Run<typeof contract.JobTouch> = async (context, { id, token }) => {
  const item = await context.api.services.items.renew({ kind: 'job', hold: { id, token, subject: null } });
  return item ? done({ id, reservedUntil: item.expires_at?.toISOString() ?? null }) : refusal(context, id, token);
};

export const release: Run<typeof contract.JobRelease> = async (context, { id, token, delay, priority }) => {
  const { db } = context.api.runtime;
  const rows = await jobs.releaseJobs(db, [{ id, token }], delay, priority ?? null);
  return rows.length > 0 ? done({ id }) : refusal(context, id, token, true);
};

export const bury: Run<typeof contract.JobBury> = async (context, { id, token, priority }) => {
  const { db } = context.api.runtime;
  const rows = await jobs.buryJob(db, { id, token }, priority ?? null);
  return rows.length > 0 ? done({ id }) : refusal(context, id, token, true);
};

export const kick: Run<typeof contract.JobKick> = async ({ api, caller }, { topic, count }) => {
  return done({ value: await api.services.jobs.kick(topic, count, caller.actor) });
};

export const kickOne: Run<typeof contract.JobKickOne> = async ({ api, caller }, { id }) => {
  const rows = await jobs.kickJob(api.runtime.db, id, caller.actor);
  if (rows.length > 0 || (await getItem(api.runtime.db, 'job', id))) return done({ id, value: rows.length });
  return unknownJob(id);
};

export const peek: Run<typeof contract.JobPeek> = async ({ api }, { id, topic }) => {
  const { db } = api.runtime;
  const item = id === undefined ? await jobs.peekReady(db, topic ?? '') : await getItem(db, 'job', id);
  if (item) return done({ id: item.id, value: item.body, state: stateWord('job', item.state), topic: item.queue });
  return id === undefined ? done() : unknownJob(id);
};
