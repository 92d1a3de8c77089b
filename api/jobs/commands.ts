import type { z } from '@hono/zod-openapi';
import { SMALL_BODY } from '../../contract/common.ts';
import type { Item, Popped } from '../../contract/items.ts';
import * as contract from '../../contract/jobs.ts';
import type { Role } from '../../contract/keys.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { stateWord } from '../../domain/items.ts';
import type { Gone } from '../../runtime/waiting.ts';
import * as beats from '../../services/jobs/beats.ts';
import * as jobs from '../../services/jobs/jobs.ts';
import * as popping from '../../services/jobs/popping.ts';
import { checkValues, problemOf } from '../../services/shared/checks.ts';
import { type Context, invalid, Problem } from '../../services/shared/service.ts';
import { addBatch, checkedEntry } from '../adding.ts';
import type { Caller } from '../auth.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { checkItems, checkNames, foreignItems } from '../scopes.ts';

/** The answer to a command: always these four fields, for some commands more (S3.1). */
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

/** The answer to a command about one job, from the service's result. A problem is an answer too. */
async function about<T>(
  id: string,
  work: Promise<T>,
  view: (result: T) => Partial<Answer> = () => ({}),
): Promise<Answer> {
  try {
    return done({ id, ...view(await work) });
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'invalid_request') throw error;
    return { ...failed(error.message, id, error.code), ...error.fields };
  }
}

interface Given {
  ctx: Context;
  caller: Caller;
  signal: Gone;
}

/** Jobs of a batch, which may be malformed. */
type Entries = ({ id?: unknown } | null)[];

/**
 * The answer to a batch: one result for each of its entries, of which none affects another. To a key that is bound to queues
 * those are forbidden that name topics or jobs of others.
 */
async function batch<Entry extends { id: string; topic?: string | undefined }>(
  { ctx, caller }: Given,
  schema: z.ZodType<Entry>,
  sent: unknown[],
  run: (entries: Entry[]) => Promise<(Answer | Error)[]>,
): Promise<Answer> {
  const ids = caller.queues === null ? [] : (sent as Entries).map((one) => one?.id);
  const foreign = await foreignItems(ctx, caller, 'job', accepted(contract.JobId, ids));
  const check = (one: unknown) => {
    const entry = checkedEntry(schema, 'job', withNumbers(one));
    if (entry.topic !== undefined) checkNames(caller, [entry.topic]);
    const refusal = foreign.get(entry.id);
    if (refusal) throw refusal;
    return entry;
  };
  const answers = (await addBatch(sent, check, run)).map(({ outcome, id }) =>
    outcome instanceof Problem ? failed(outcome.message, id, outcome.code) : outcome,
  );
  const results = answers.map(({ value: _, ...result }) => result);
  return { ...done(), success: results.every((r) => r.success), results };
}

interface Command {
  schema: z.ZodType;
  roles: Role[];
  // takes a value of its schema, which `command` checks
  run(given: Given, command: never): Promise<Answer>;
}

const command = <S extends z.ZodType>(
  schema: S,
  roles: Role[],
  run: (given: Given, command: z.output<S>) => Promise<Answer>,
): Command => ({ schema, roles, run });

const BOTH: Role[] = ['producer', 'consumer', 'supervisor'];
const CONSUMER: Role[] = ['consumer'];
const KICKING: Role[] = ['consumer', 'supervisor'];

const addedAs = ({ item, created }: Awaited<ReturnType<typeof jobs.add>>) => ({ already: !created, run: item.run });

const add = command(contract.JobAdd, BOTH, ({ ctx, caller }, { command: _, ...job }) =>
  about(job.id, jobs.add(ctx, job, caller.actor), addedAs),
);

const addMany = command(contract.JobAddMany, BOTH, (given, { jobs: sent }) =>
  batch(given, contract.NewJob, sent, async (all) =>
    (await jobs.addAll(given.ctx, all, given.caller.actor)).map((added) =>
      added instanceof Error ? added : done({ id: added.item.id, ...addedAs(added) }),
    ),
  ),
);

const topicsOf = (topic: string | string[]) => [...new Set([topic].flat())].sort();
const holderOf = ({ subject, actor }: Caller) => subject ?? actor;

const pop = command(contract.JobPop, CONSUMER, async ({ ctx, caller, signal }, { topic, wait, count }) => {
  const request = { topics: topicsOf(topic), count: count ?? 1, waitSeconds: wait, holder: holderOf(caller), signal };
  const found = await popping.pop(ctx, request);
  if (count !== undefined) return done({ jobs: found.map(handed) });
  const [job] = found;
  return job ? done(handed(job)) : done({ token: null, topic: null, attempt: null });
});

const finishOne = ({ ctx, caller }: Given, { id, token }: { id: string; token?: string | undefined }) =>
  about(id, jobs.finish(ctx, id, token ?? null, caller.actor), ({ state }) =>
    state === 'settled' ? {} : failed(`job ${id} is ${stateWord('job', state)}`, id, 'not_open'),
  );

const finish = command(contract.JobFinish, CONSUMER, async (given, { id, token, next, topic, wait }) => {
  if (!next || token === undefined) return finishOne(given, { id, token });
  const { ctx, caller, signal } = given;
  const request = {
    topics: topic === undefined ? undefined : topicsOf(topic),
    waitSeconds: wait,
    holder: holderOf(caller),
    signal,
  };
  return about(id, beats.finishNext(ctx, { id, token }, request), (job) => ({ next: job ? handed(job) : null }));
});

const finishMany = command(contract.JobFinishMany, CONSUMER, (given, { jobs: sent }) =>
  batch(given, contract.FinishedJob, sent, (all) => Promise.all(all.map((job) => finishOne(given, job)))),
);

const remove = command(contract.JobDelete, BOTH, ({ ctx, caller }, { id }) =>
  about(id, jobs.remove(ctx, id, caller.actor, true)),
);

const touch = command(contract.JobTouch, CONSUMER, ({ ctx }, { id, token }) =>
  about(id, jobs.touch(ctx, { id, token }), ({ expires_at }) => ({ reservedUntil: expires_at?.toISOString() ?? null })),
);

const release = command(contract.JobRelease, CONSUMER, ({ ctx }, { id, token, delay, priority, reason }) =>
  about(id, jobs.release(ctx, { id, token }, delay, { priority, reason })),
);

const bury = command(contract.JobBury, KICKING, ({ ctx, caller }, { id, token, priority, reason }) =>
  token === undefined
    ? about(id, buryAny(ctx, caller, id, reason))
    : about(id, jobs.bury(ctx, { id, token }, { priority, reason })),
);

function buryAny(ctx: Context, { role, actor }: Caller, id: string, reason = `by ${actor}`): Promise<Item> {
  if (role === 'consumer') throw invalid('token', 'is required');
  return jobs.buryOpen(ctx, id, actor, reason);
}

const kick = command(contract.JobKick, KICKING, async ({ ctx, caller }, { topic, count }) =>
  done({ value: await jobs.kick(ctx, topic, count, caller.actor) }),
);

const kickOne = command(contract.JobKickOne, KICKING, ({ ctx, caller }, { id }) =>
  about(id, jobs.kickOne(ctx, id, caller.actor), (kicked) => ({ value: kicked ? 1 : 0 })),
);

const peeked = ({ id, body, state, queue }: Item) => ({
  id,
  value: body,
  state: stateWord('job', state),
  topic: queue,
});

const peek = command(contract.JobPeek, BOTH, async ({ ctx }, { id, topic = '' }) => {
  if (id !== undefined) return about(id, jobs.find(ctx, id), peeked);
  const job = await jobs.first(ctx, topic, 'ready');
  return done(job && peeked(job));
});

const NUMBER = /^\d+(\.\d+)?$/;

/** A command or job whose numbers may be in quotes, as PHP programs send them. */
function withNumbers<T>(sent: T): T {
  if (typeof sent !== 'object' || sent === null) return sent;
  const numbers = Object.entries(sent).filter(
    ([name, value]) => ['delay', 'TTR', 'priority'].includes(name) && typeof value === 'string' && NUMBER.test(value),
  );
  return numbers.length === 0
    ? sent
    : { ...sent, ...Object.fromEntries(numbers.map(([name, n]) => [name, Number(n)])) };
}

const has = (sent: object, field: string) => Object.hasOwn(sent, field);

/** The commands by name. Some take one job or a batch. */
const commands: Record<string, (sent: object) => Command> = {
  add: (sent) => (has(sent, 'jobs') ? addMany : add),
  pop: () => pop,
  finish: (sent) => (has(sent, 'jobs') ? finishMany : finish),
  delete: () => remove,
  touch: () => touch,
  release: () => release,
  bury: () => bury,
  kick: (sent) => (has(sent, 'id') ? kickOne : kick),
  peek: () => peek,
};

const accepted = (schema: z.ZodType<string>, values: unknown[]): string[] =>
  values.filter((value): value is string => schema.safeParse(value).success);

/** A key that is bound to queues names topics and jobs of those only. @throws Problem `forbidden` */
async function checkJob(ctx: Context, caller: Caller, { topic, id }: { topic?: unknown; id?: unknown }): Promise<void> {
  if (caller.queues === null) return;
  checkNames(caller, accepted(contract.Topic, [topic].flat()));
  await checkItems(ctx, caller, 'job', accepted(contract.JobId, [id]));
}

export const jobCommand = endpoint('runJobCommand', 'POST /v1/jobs', {
  tag: 'Jobs',
  summary: 'All commands for jobs: add, pop, finish, delete, touch, release, bury, kick, peek',
  roles: ['producer', 'consumer', 'supervisor'],
  scope: 'handler',
  document: contract.JobCommand,
  bodyLimit: LARGE_BODY,
  takesAnyType: true,
  answers: { 200: contract.JobAnswer },
  /** A command that was parsed is answered with 200, also where it failed; other problems keep their status. */
  problemAnswer: (problem) => ({
    status: problem.status === 422 ? 200 : problem.status,
    body: failed(problem.message, null, problem.code),
  }),
  async handle({ ctx, caller, raw, signal }) {
    const { value, bytes } = await raw();
    if (value === undefined) throw new Problem('invalid_request', 'send a command as a JSON body', { status: 400 });
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalid('the body', 'must be an object');
    const sent = withNumbers(value);
    const name = (sent as { command?: unknown }).command;
    const find = typeof name === 'string' && Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!find) throw invalid('command', `must be one of ${Object.keys(commands).join(', ')}`);
    const { schema, run, roles } = find(sent);
    if (caller.role !== 'admin' && !roles.includes(caller.role))
      throw new Problem('forbidden', `a ${caller.role} key may not ${name}`);
    if (!has(sent, 'jobs') && bytes > SMALL_BODY)
      throw new Problem('payload_too_large', `a command about one job may have ${SMALL_BODY} bytes at most`);
    if (!has(sent, 'jobs')) checkValues(sent);
    const parsed = schema.safeParse(sent);
    if (!parsed.success) throw problemOf(parsed.error, String(name));
    await checkJob(ctx, caller, sent);
    return ok(await run({ ctx, caller, signal }, parsed.data as never));
  },
});
