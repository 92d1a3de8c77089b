import { z } from '@hono/zod-openapi';
import { startWorkflow, WorkflowRunOperationHandler } from '@temporalio/nexus';
import * as nexus from 'nexus-rpc';
import { NewCase } from '../contract/cases.ts';
import type { Item } from '../contract/items.ts';
import { NewJob } from '../contract/jobs.ts';
import { AnyName, Id } from '../contract/names.ts';
import type { Awaited, Outcome } from '../contract/snapshot.ts';
import { NewTicket } from '../contract/tickets.ts';
import { TASK_QUEUE } from '../runtime/followers/publisher.ts';
import * as cases from '../services/cases/cases.ts';
import * as courts from '../services/cases/courts.ts';
import * as waits from '../services/deliveries/waits.ts';
import * as jobs from '../services/jobs/jobs.ts';
import { checkCallback, checkValues, plainly } from '../services/shared/checks.ts';
import { type Context, checkSize, Problem, problemFrom } from '../services/shared/service.ts';
import { contentHash } from '../services/shared/tokens.ts';
import * as tickets from '../services/tickets/tickets.ts';

const onCancel = z.enum(['leave', 'withdraw']).default('leave');
const TicketInput = z.strictObject({ ...NewTicket.shape, id: Id, queue: AnyName, onCancel });
const CaseInput = z.strictObject({ ...NewCase.shape, id: Id, court: AnyName, onCancel });
const JobInput = z.strictObject({ ...NewJob.shape, onCancel }).omit({ key: true });

/** `requestId`: of the operation, the same for each of its attempts. */
type Asked = Record<'actor' | 'requestId', string>;

/** An item that an operation has added, or met. */
type Met = Pick<Item, 'id' | 'run' | 'version'>;

type Input = z.ZodType<{ onCancel: Awaited['onCancel'] }>;

interface Operation<S extends Input = Input> {
  kind: Awaited['kind'];
  input: S;
  /** The queue, court or topic, which the operator must permit. */
  place(input: z.output<S>): string;
  /** Adds the item once: by its id, and never another run of a job. */
  add(ctx: Context, input: z.output<S>, asked: Asked): Promise<Met>;
}

const operation = <S extends Input>(of: Operation<S>) => of;

const OPERATIONS = {
  ticket: operation({
    kind: 'ticket',
    input: TicketInput,
    place: ({ queue }) => queue,
    async add(ctx, { queue, onCancel: _, ...ticket }, { actor }) {
      if (ticket.callback && 'url' in ticket.callback) checkCallback(ctx, 'callback', ticket.callback);
      return (await tickets.add(ctx, queue, ticket, actor)).item;
    },
  }),
  case: operation({
    kind: 'case',
    input: CaseInput,
    place: ({ court }) => court,
    async add(ctx, { court, onCancel: _, ...sent }, { actor }) {
      checkCallback(ctx, 'callback', sent.callback);
      return (await cases.add(ctx, await courts.get(ctx, court), sent, actor)).item;
    },
  }),
  job: operation({
    kind: 'job',
    input: JobInput,
    place: ({ topic }) => topic,
    async add(ctx, { onCancel: _, ...job }, { actor, requestId }) {
      const met = await jobs.meet(ctx, job);
      if (met) return met;
      return (await jobs.add(ctx, { ...job, key: `nexus ${requestId}` }, actor)).item;
    },
  }),
};

/**
 * The Nexus service `docket` (B.1): an operation adds an item, waits and ends as the item ends. Each attempt of an operation
 * finds the same item and the same wait.
 */
export function nexusService(ctx: Context, allowed: readonly string[]) {
  const operations = Object.entries(OPERATIONS) as [string, Operation][];
  const handlers = operations.map(([name, of]) => [name, handler(ctx, allowed, of)] as const);
  const definition = nexus.service(
    'docket',
    Object.fromEntries(operations.map(([name]) => [name, nexus.operation<unknown, Outcome>()])),
  );
  return nexus.serviceHandler(definition, Object.fromEntries(handlers));
}

function handler(
  ctx: Context,
  allowed: readonly string[],
  { kind, input: schema, place, add }: Operation,
): nexus.OperationHandler<unknown, Outcome> {
  const runs = new WorkflowRunOperationHandler<{ workflowId: string; awaited: Awaited }, Outcome>(
    (start, { workflowId, awaited }) =>
      startWorkflow(start, 'awaiting', {
        ...{ workflowId, taskQueue: TASK_QUEUE, args: [awaited] },
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `${awaited.actor} waits for ${kind} ${awaited.id}`,
      }),
  );
  return {
    async start(start, sent) {
      try {
        const input = checked(schema, sent);
        const name = place(input);
        if (!allowed.includes('*') && !allowed.includes(name))
          throw new Problem('forbidden', `${name} is not in DOCKET_NEXUS_QUEUES`);
        const { requestId } = start;
        const actor = `nexus/${callerOf(start)}`;
        const { id, run, version } = await add(ctx, input, { actor, requestId });
        const awaited: Awaited = { kind, id, run, version, onCancel: input.onCancel, actor };
        const workflowId = `awaiting/${kind}/${id}/${contentHash(requestId).slice(0, 16)}`;
        const outcome = await waits.keep(ctx, workflowId, awaited);
        if (outcome) return nexus.HandlerStartOperationResult.sync(outcome);
        return await runs.start(start, { workflowId, awaited });
      } catch (error) {
        throw handlerError(error);
      }
    },
    cancel: (cancel, token) => runs.cancel(cancel, token),
  };
}

function checked<S extends z.ZodType>(schema: S, sent: unknown): z.output<S> {
  checkValues(sent);
  checkSize('the input', sent);
  const parsed = schema.safeParse(sent);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues
    .flatMap(plainly)
    .map(({ path, message }) => `${path.join('.') || 'the input'} ${message}`);
  throw new Problem('invalid_request', faults.slice(0, 10).join('; '));
}

/** The namespace of the caller, from the link to its event. */
const callerOf = ({ inboundLinks: [link] }: nexus.StartOperationContext): string =>
  /^\/namespaces\/([^/]+)\//.exec(link?.url.pathname ?? '')?.[1] ?? 'unknown';

/**
 * What an error is to the caller of an operation, without our stack; what may pass is tried again. Its message begins with
 * the code. Temporal 1.29 does not know CONFLICT: it would make it an internal error and try for ever.
 */
function handlerError(error: unknown): nexus.HandlerError {
  if (error instanceof nexus.HandlerError) return error;
  const { status, code, message } = problemFrom(error);
  const type = status < 500 ? 'BAD_REQUEST' : 'UNAVAILABLE';
  const refusal = new nexus.HandlerError(type, `${code}: ${message}`, { retryableOverride: status >= 500 });
  refusal.stack = '';
  return refusal;
}
