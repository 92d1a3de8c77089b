import { isGrpcServiceError } from '@temporalio/client';
import { METADATA_ENCODING_KEY } from '@temporalio/common';
import { workflowOf } from '../contract/callbacks.ts';
import type { Outgoing } from '../services/deliveries/outcomes.ts';
import { refusedCallback } from '../services/shared/callbacks.ts';
import type { Context } from '../services/shared/context.ts';
import type { Answer } from './webhook.ts';

const TIMEOUT_MS = 10_000;
const NOT_FOUND = 5;
const JSON_PLAIN = { [METADATA_ENCODING_KEY]: Buffer.from('json/plain') };

/**
 * Signals a workflow, with the message's id as the request's, so that Temporal drops a repetition (B.1). A workflow that
 * has closed, or never was, answers as a receiver that is gone.
 * @throws Error when Temporal cannot be asked, does not permit it or has no such namespace, or the operator does not
 */
export async function signal(ctx: Context, { url, id, body }: Outgoing): Promise<Answer> {
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
    if (error.code !== NOT_FOUND || /^namespace\b/i.test(error.details)) throw new Error(error.details);
    return { status: 410, why: `Temporal: ${error.details}`, retryAfterMs: null };
  }
  return { status: 200, retryAfterMs: null };
}
