import type { z } from '@hono/zod-openapi';
import { SMALL_BODY } from '../../contract/common.ts';
import type { Item, Popped } from '../../contract/items.ts';
import * as contract from '../../contract/jobs.ts';
import type { Role } from '../../contract/keys.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { stateWord } from '../../domain/items.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as jobs from '../../services/jobs/jobs.ts';
import * as popping from '../../services/jobs/popping.ts';
import type { Context } from '../../services/shared/context.ts';
import { invalid, Problem } from '../../services/shared/problems.ts';
import { checkedEntry, idOf } from '../adding.ts';
import type { Caller } from '../auth.ts';
import { checkValues } from '../body.ts';
import { endpoint, LARGE_BODY, ok, problemOf } from '../endpoint.ts';
import { checkItems, checkNames } from '../scopes.ts';

/** The answer to a command: always these four fields, with some commands more (S3.1). */
interface Answer {
  success: boolean;
  error: string | null;
  id: string | null;
  value: unknown;
  [more: string]: unknown;
}

const done = (more: Partial<Answer> = {}): Answer => ({ success: true, error: null, id: null, value: null, ...more });

const failed = (error: string, id: string | null = null, code?: ProblemCode): Answer => ({
  ...done({ success: false, error, id }),
  ...(code && { code }),
});

/** A job as a pop answers it. */
const handed = (item: Popped) => ({
  id: item.id,
  value: item.body,
  token: item.lease_id,
  topic: item.queue,
  attempt: item.attempts,
  TTR: item.lease_seconds,
});

/** The answer to a command about one job. A problem is an answer too. */
async function about(id: string, run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'invalid_request') throw error;
    return { ...failed(error.message, id, error.code), ...error.fields };
  }
}

/** The answer to a batch: one result for each of its commands. */
async function batch(answers: Promise<Answer>[]): Promise<Answer> {
  const results = (await Promise.all(answers)).map(({ success, error, id, code }) => ({
    ...{ success, error, id },
    ...(code ? { code } : {}),
  }));
  return { ...done(), success: results.every((r) => r.success), results };
}

interface Given {
  ctx: Context;
  caller: Caller;
  signal: Gone;
}

type Run<S extends z.ZodType> = (given: Given, command: z.output<S>) => Promise<Answer>;

const add: Run<typeof contract.JobAdd> = ({ ctx, caller }, { command: _, ...job }) =>
  about(job.id, async () => {
    const { created } = await jobs.add(ctx, job, caller.actor);
    return done({ id: job.id, already: !created });
  });

const addMany: Run<typeof contract.JobAddMany> = (given, { jobs: sent }) => {
  const one = async (sent: unknown) => {
    try {
      return await add(given, { command: 'add', ...checkedEntry(contract.NewJob, 'job', sent) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return failed(error.message, idOf(sent), error.code);
    }
  };
  return batch(sent.map(one));
};

const pop: Run<typeof contract.JobPop> = async ({ ctx, caller, signal }, { topic, wait, count }) => {
  const topics = [...new Set([topic].flat())].sort();
  const holder = caller.subject ?? caller.actor;
  const request = { topics, count: count ?? 1, waitSeconds: wait, holder, signal };
  const found = await popping.pop(ctx, request);
  if (count !== undefined) return done({ jobs: found.map(handed) });
  const [job] = found;
  return job ? done(handed(job)) : done({ token: null, topic: null, attempt: null });
};

const finish = ({ ctx, caller }: Given, { id, token }: { id: string; token?: string | undefined }) =>
  about(id, async () => {
    const { state } = await jobs.finish(ctx, id, token ?? null, caller.actor);
    return state === 'settled' ? done({ id }) : failed(`job ${id} is ${stateWord('job', state)}`, id);
  });

const finishMany: Run<typeof contract.JobFinishMany> = (given, { jobs: sent }) =>
  batch(sent.map((job) => finish(given, job)));

const remove: Run<typeof contract.JobDelete> = ({ ctx, caller }, { id }) =>
  about(id, async () => {
    await jobs.remove(ctx, id, caller.actor, true);
    return done({ id });
  });

const touch: Run<typeof contract.JobTouch> = ({ ctx }, { id, token }) =>
  about(id, async () => {
    const { expires_at } = await jobs.touch(ctx, { id, token });
    return done({ id, reservedUntil: expires_at?.toISOString() ?? null });
  });

const release: Run<typeof contract.JobRelease> = ({ ctx }, { id, token, delay, priority }) =>
  about(id, async () => {
    await jobs.release(ctx, { id, token }, delay, priority);
    return done({ id });
  });

const bury: Run<typeof contract.JobBury> = ({ ctx }, { id, token, priority }) =>
  about(id, async () => {
    await jobs.bury(ctx, { id, token }, priority);
    return done({ id });
  });

const kick: Run<typeof contract.JobKick> = async ({ ctx, caller }, { topic, count }) =>
  done({ value: await jobs.kick(ctx, topic, count, caller.actor) });

const kickOne: Run<typeof contract.JobKickOne> = ({ ctx, caller }, { id }) =>
  about(id, async () => done({ id, value: (await jobs.kickOne(ctx, id, caller.actor)) ? 1 : 0 }));

const peeked = (job: Item) =>
  done({ id: job.id, value: job.body, state: stateWord('job', job.state), topic: job.queue });

const peek: Run<typeof contract.JobPeek> = async ({ ctx }, { id, topic = '' }) => {
  if (id !== undefined) return about(id, async () => peeked(await jobs.find(ctx, id)));
  const job = await jobs.first(ctx, topic, 'ready');
  return job ? peeked(job) : done();
};

interface Command {
  schema: z.ZodType;
  // each schema goes with its function below, which is checked where the pair is written
  run(given: Given, command: never): Promise<Answer>;
  roles: Role[];
}

const command = <S extends z.ZodType>(schema: S, run: Run<S>, roles: Role[] = ['consumer']): Command => ({
  ...{ schema, run, roles },
});

const has = (sent: object, field: string) => Object.hasOwn(sent, field);

/** The commands by name. Some take one job or a batch. */
const commands: Record<string, (sent: object) => Command> = {
  add: (sent) =>
    has(sent, 'jobs')
      ? command(contract.JobAddMany, addMany, ['producer', 'consumer'])
      : command(contract.JobAdd, add, ['producer', 'consumer']),
  pop: () => command(contract.JobPop, pop),
  finish: (sent) =>
    has(sent, 'jobs') ? command(contract.JobFinishMany, finishMany) : command(contract.JobFinish, finish),
  delete: () => command(contract.JobDelete, remove, ['producer', 'consumer']),
  touch: () => command(contract.JobTouch, touch),
  release: () => command(contract.JobRelease, release),
  bury: () => command(contract.JobBury, bury),
  kick: (sent) => (has(sent, 'id') ? command(contract.JobKickOne, kickOne) : command(contract.JobKick, kick)),
  peek: () => command(contract.JobPeek, peek, ['producer', 'consumer']),
};

interface Sent {
  topic?: unknown;
  id?: unknown;
  jobs?: ({ topic?: unknown; id?: unknown } | null)[];
}

const accepted = (schema: z.ZodType<string>, values: unknown[]): string[] =>
  values.filter((value): value is string => schema.safeParse(value).success);

/** A key that is bound to queues names topics and jobs of those only. @throws Problem `forbidden` */
async function checkJobs(ctx: Context, caller: Caller, { topic, id, jobs = [] }: Sent): Promise<void> {
  if (caller.queues === null) return;
  // entries with other values fail by themselves
  checkNames(caller, accepted(contract.Topic, [...[topic].flat(), ...jobs.map((job) => job?.topic)]));
  await checkItems(ctx, caller, 'job', accepted(contract.JobId, [id, ...jobs.map((job) => job?.id)]));
}

export const jobCommand = endpoint('runJobCommand', 'POST /v1/jobs', {
  tag: 'Jobs',
  summary: 'All commands for jobs: add, pop, finish, delete, touch, release, bury, kick, peek',
  roles: ['producer', 'consumer'],
  scope: 'handler',
  document: contract.JobCommand,
  bodyLimit: LARGE_BODY,
  answers: { 200: contract.JobAnswer },
  /** A command that was parsed is answered with 200, also where it failed; other problems keep their status. */
  problemAnswer: (problem) => ({
    status: problem.status === 422 ? 200 : problem.status,
    body: failed(problem.message, null, problem.code),
  }),
  async handle({ ctx, caller, raw, signal }) {
    const { value: sent, bytes } = await raw();
    if (sent === undefined) throw new Problem('invalid_request', 'send a command as a JSON body', { status: 400 });
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
      throw invalid('the body', 'must be an object');
    const name = (sent as { command?: unknown }).command;
    const find = typeof name === 'string' && Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!find) throw invalid('command', `must be one of ${Object.keys(commands).join(', ')}`);
    const { schema, run, roles } = find(sent);
    if (caller.role !== 'admin' && !roles.includes(caller.role))
      throw new Problem('forbidden', `a ${caller.role} key may not ${name}`);
    if (!has(sent, 'jobs') && bytes > SMALL_BODY)
      throw new Problem('payload_too_large', `a command about one job may have ${SMALL_BODY} bytes at most`);
    if (!(has(sent, 'jobs') && name === 'add')) checkValues(sent);
    const parsed = schema.safeParse(sent);
    if (!parsed.success) throw problemOf(parsed.error, 'command');
    await checkJobs(ctx, caller, sent as Sent);
    return ok(await run({ ctx, caller, signal }, parsed.data as never));
  },
});
