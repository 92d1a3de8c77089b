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
    return expecting(
      (work) => tracing.item(workflowId, `publish ${input.workflowType}`, {}, work),
      () => next(input),
    );
  },
  signal(input, next) {
    const { workflowId = '' } = input.workflowExecution;
    return expecting(
      (work) => tracing.item(workflowId, `publish ${input.signalName}`, {}, work),
      () => next(input),
    );
  },
});

/** A span of the item's trace for each activity that its workflow asks for, each attempt apart. */
export const working =
  (tracing: Tracing): ActivityInterceptorsFactory =>
  ({ info: { workflowExecution, activityType, attempt, isLocal } }) => ({
    inbound: {
      execute: (input, next) =>
        expecting(
          (work) => tracing.item(workflowExecution?.workflowId ?? '', activityType, { attempt, local: isLocal }, work),
          () => next(input),
        ),
    },
  });

/** What is thrown as an answer: another one started it, it has completed, a host has no free slot. */
const isAnswer = (error: unknown) =>
  error instanceof WorkflowExecutionAlreadyStartedError ||
  error instanceof WorkflowNotFoundError ||
  (error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN);

/** Throws an answer past the span, which does not fail by it. */
async function expecting<T>(
  within: (work: () => Promise<() => T>) => Promise<() => T>,
  work: () => Promise<T>,
): Promise<T> {
  const take = await within(async () => {
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
