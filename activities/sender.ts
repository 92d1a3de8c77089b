import { isGrpcServiceError } from '@temporalio/client';
import { METADATA_ENCODING_KEY } from '@temporalio/common';
import { workflowOf } from '../contract/common.ts';
import type { DeliveryRow as Delivery } from '../db/statements.ts';
import { withoutQuery } from '../domain/callbacks.ts';
import * as deliveries from '../services/deliveries/deliveries.ts';
import type { Outgoing } from '../services/deliveries/outcomes.ts';
import { refusedCallback } from '../services/shared/checks.ts';
import type { Context } from '../services/shared/service.ts';
import { Hosts, type Lane, later, type Slot } from './hosts.ts';
import { type Answer, post } from './webhook.ts';

const GONE = 410;
/** Statuses of a host that cannot serve anything now; any other status is about the one message. */
const UNAVAILABLE = new Set([429, 502, 503, 504]);
const FIRST_RETRY_SECONDS = 2;
const MAX_RETRY_SECONDS = 3 * 3600;
const [MIN_ASKED_SECONDS, MAX_ASKED_SECONDS] = [1, 3600];

/** Takes a slot for a URL's host. @throws ApplicationFailure that postpones the delivery */
type TakeSlot = (url: string) => Slot;

/** Sends deliveries. A process has one sender, because it counts the calls in flight to each host. */
export function createSender(ctx: Context) {
  const hosts = new Hosts(ctx.log);
  return {
    /**
     * Runs one attempt at the delivery `key`. A postponed one takes its host's slot before `work` reads anything; the
     * slot is released at the end.
     * @throws ApplicationFailure when its host has no slot
     */
    async attempt(lane: Lane, key: string, work: (take: TakeSlot) => Promise<void>) {
      let slot: Slot | undefined = hosts.resume(key, lane);
      try {
        await work((url) => {
          const { host } = new URL(url);
          if (slot && slot.host !== host) slot.release();
          slot = slot?.host === host ? slot : hosts.take(key, lane, host);
          return slot;
        });
      } finally {
        slot?.release();
      }
    },
    /**
     * Sends a message and records the result.
     * @throws ApplicationFailure with the delay until the next attempt, when there is to be one
     */
    async send(delivery: Delivery, message: Outgoing, take: TakeSlot) {
      let opened: Outgoing;
      try {
        opened = ctx.secrets.open(message);
      } catch (error) {
        // not a failure of the host
        return record(ctx, delivery, message.url, error as Error);
      }
      const slot = take(message.url);
      const sent = opened.secret === undefined ? signal(ctx, opened) : post(opened, ctx.config.privateCallbacks);
      const answer = await sent.catch((error: Error) => error);
      slot.report(!(answer instanceof Error || UNAVAILABLE.has(answer.status)));
      await record(ctx, delivery, message.url, answer);
    },
  };
}

/** Records an answer: 2xx is delivered, 410 ends the attempts, anything else is tried again. */
async function record(ctx: Context, delivery: Delivery, url: string, answer: Answer | Error) {
  const { kind, item_id: id, n } = delivery;
  const status = answer instanceof Error ? null : answer.status;
  const delivered = status !== null && status >= 200 && status < 300;
  const state = delivered ? 'delivered' : status === GONE ? 'failed' : 'pending';
  const error = delivered ? null : answer instanceof Error ? answer.message : (answer.why ?? `answered ${status}`);
  const delaySeconds = state === 'pending' ? retrySeconds(delivery, answer) : null;
  const row = await deliveries.record(ctx, delivery, { url, status, error, state, delaySeconds });
  if (!row) return;
  const line = { kind, item: id, n, url: withoutQuery(url), status, attempt: row.attempts };
  if (delivered) ctx.log.info(line, 'delivered');
  else ctx.log.warn({ ...line, error, nextAttemptAt: row.next_attempt_at?.toISOString() ?? null }, 'not delivered');
  if (delaySeconds !== null) throw later('not_delivered', error ?? 'not delivered', delaySeconds * 1000);
}

/** The delay that the receiver asks for, or one that doubles with each attempt. */
function retrySeconds({ attempts, attempts_before }: Delivery, answer: Answer | Error): number {
  const asked = answer instanceof Error ? null : answer.retryAfterMs;
  if (asked !== null) return Math.min(Math.max(asked / 1000, MIN_ASKED_SECONDS), MAX_ASKED_SECONDS);
  return Math.min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** (attempts - attempts_before));
}

const TIMEOUT_MS = 10_000;
const NOT_FOUND = 5;
const INVALID_ARGUMENT = 3;
const JSON_PLAIN = { [METADATA_ENCODING_KEY]: Buffer.from('json/plain') };

/**
 * Signals a workflow, with the message's id as the request's, so that Temporal drops a repetition (B.1). A workflow that
 * has closed, or never was, answers as a receiver that is gone.
 * @throws Error when Temporal cannot be asked, does not permit it or has no such namespace, or the operator does not
 */
async function signal(ctx: Context, { url, id, body }: Outgoing): Promise<Answer> {
  const refused = refusedCallback(ctx, url);
  if (refused !== null) throw new Error(`the callback ${refused}`);
  const { namespace, workflowId, runId = '', signal: signalName } = workflowOf(url);
  const input = { payloads: [{ metadata: JSON_PLAIN, data: Buffer.from(body) }] };
  const request = { namespace, workflowExecution: { workflowId, runId }, signalName, requestId: id, input };
  const { client } = ctx;
  try {
    await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
      client.workflowService.signalWorkflowExecution({ ...request, identity: 'docket' }),
    );
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    // a namespace that was registered a moment ago is not found for some seconds
    const ends = error.code === INVALID_ARGUMENT || (error.code === NOT_FOUND && !/^namespace\b/i.test(error.details));
    if (!ends) throw new Error(error.details);
    return { status: 410, why: `Temporal: ${error.details}`, retryAfterMs: null };
  }
  return { status: 200, retryAfterMs: null };
}
