import type { Attributes } from '@opentelemetry/api';
import {
  type WorkflowClientInterceptor,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Tracing } from '../runtime/tracing.ts';

/** A span of the item's trace for each message that is published to its workflow. */
export const publishing = (tracing: Tracing): WorkflowClientInterceptor => ({
  startWithDetails(input, next) {
    const { workflowId } = input.options;
    return inSpan(tracing, workflowId, `publish ${input.workflowType}`, {}, () => next(input));
  },
  signal(input, next) {
    const { workflowId = '' } = input.workflowExecution;
    return inSpan(tracing, workflowId, `publish ${input.signalName}`, {}, () => next(input));
  },
});

/** A span of the item's trace for each attempt at an activity of its workflow. */
export const working =
  (tracing: Tracing): ActivityInterceptorsFactory =>
  ({ info: { workflowExecution, activityType, attempt, isLocal } }) => ({
    inbound: {
      execute(input, next) {
        const attributes = { attempt, local: isLocal };
        return inSpan(tracing, workflowExecution?.workflowId ?? '', activityType, attributes, () => next(input));
      },
    },
  });

/** Errors that are answers: the workflow was started already or has completed, or a host has no free slot. */
const isAnswer = (error: unknown) =>
  error instanceof WorkflowExecutionAlreadyStartedError ||
  error instanceof WorkflowNotFoundError ||
  (error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN);

/** Runs work in a span, which does not fail by errors that are answers. */
async function inSpan<T>(
  tracing: Tracing,
  workflowId: string,
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  const take = await tracing.item(workflowId, name, attributes, async () => {
    try {
      const result = await work();
      return () => result;
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return () => {
        throw error;
      };
    }
  });
  return take();
}
