import type { z } from '@hono/zod-openapi';
import * as contract from '../../contract/jobs.ts';
import type { Role } from '../../contract/keys.ts';
import { invalid, Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { checkValues, endpoint, LARGE_BODY, ok, problemOf, SMALL_BODY } from '../endpoint.ts';
import { checkItems, checkNames } from '../scopes.ts';
import { type JobAnswerBody, problemAnswer } from './answers.ts';
import * as run from './commands.ts';

interface Command {
  schema: z.ZodType;
  // each schema goes with its function below, which is checked where the pair is written
  run(context: run.Context, command: never): Promise<JobAnswerBody>;
  roles: Role[];
}

const command = <S extends z.ZodType>(
  schema: S,
  body: (context: run.Context, command: z.output<S>) => Promise<JobAnswerBody>,
  roles: Role[] = ['consumer'],
): Command => ({ schema, run: body, roles });

const has = (sent: object, field: string) => Object.hasOwn(sent, field);

/** The commands by name; some take one job or many. */
const commands: Record<string, (sent: object) => Command> = {
  add: (sent) =>
    has(sent, 'jobs')
      ? command(contract.JobAddMany, run.addMany, ['producer', 'consumer'])
      : command(contract.JobAdd, run.add, ['producer', 'consumer']),
  pop: () => command(contract.JobPop, run.pop),
  finish: (sent) =>
    has(sent, 'jobs') ? command(contract.JobFinishMany, run.finishMany) : command(contract.JobFinish, run.finish),
  delete: () => command(contract.JobDelete, run.remove, ['producer', 'consumer']),
  touch: () => command(contract.JobTouch, run.touch),
  release: () => command(contract.JobRelease, run.release),
  bury: () => command(contract.JobBury, run.bury),
  kick: (sent) => (has(sent, 'id') ? command(contract.JobKickOne, run.kickOne) : command(contract.JobKick, run.kick)),
  peek: () => command(contract.JobPeek, run.peek, ['producer', 'consumer']),
};

interface Sent {
  topic?: string | string[];
  id?: string;
  jobs?: { topic?: unknown; id?: unknown }[];
}

/** A key that is bound to queues names topics and jobs of those only. @throws Problem `forbidden` */
async function checkJobs(api: Api, caller: Caller, { topic, id, jobs = [] }: Sent): Promise<void> {
  if (caller.queues === null) return;
  checkNames(caller, [topic ?? [], jobs.flatMap((job) => job?.topic ?? [])].flat(2).map(String));
  await checkItems(api, caller, 'job', [id ?? [], jobs.flatMap((job) => job?.id ?? [])].flat().map(String));
}

export const jobCommand = endpoint({
  method: 'post',
  path: '/v1/jobs',
  tag: 'Jobs',
  summary: "The article's one endpoint: add, pop, finish, delete; and touch, release, bury, kick, peek",
  roles: ['producer', 'consumer'],
  document: contract.JobCommand,
  bodyLimit: LARGE_BODY,
  answers: { 200: contract.JobAnswer },
  problemAnswer,
  async handle({ api, caller, raw, signal }) {
    const { value: sent, bytes } = await raw();
    if (sent === undefined) throw new Problem('invalid_request', 'send a command as a JSON body', { status: 400 });
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
      throw invalid('the body', 'must be an object');
    const name = (sent as { command?: unknown }).command;
    const find = typeof name === 'string' && Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!find) throw invalid('command', `must be one of ${Object.keys(commands).join(', ')}`);
    const { schema, run: body, roles } = find(sent);
    if (caller.role !== 'admin' && !roles.includes(caller.role))
      throw new Problem('forbidden', `a ${caller.role} key may not ${name}`);
    if (!has(sent, 'jobs') && bytes > SMALL_BODY)
      throw new Problem('payload_too_large', `a command about one job may have ${SMALL_BODY} bytes at most`);
    if (!(has(sent, 'jobs') && name === 'add')) checkValues(sent);
    const parsed = schema.safeParse(sent);
    if (!parsed.success) throw problemOf(parsed.error, 'command');
    await checkJobs(api, caller, sent as Sent);
    return ok(await body({ api, caller, signal }, parsed.data as never));
  },
});
