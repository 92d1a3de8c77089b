import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Item } from '../../contract/items.ts';
import type { Queue } from '../../db/queues.ts';
import { statusOf } from '../../domain/reviews.ts';
import { invalid, Problem } from '../problems.ts';

const compiled = new Map<string, { version: number; validate: ValidateFunction }>();

/** @throws Problem 422 when the JSON Schema itself is wrong */
export function checkForm(form: object): void {
  compile(form);
}

/** @throws Problem 422 naming each place where the decision doesn't fit the queue's form */
export function checkDecision(queue: Queue, decision: unknown): void {
  if (!queue.form) return;
  let known = compiled.get(queue.name);
  if (known?.version !== queue.settings_version) {
    known = { version: queue.settings_version, validate: compile(queue.form) };
    if (compiled.size > 1_000) compiled.clear();
    compiled.set(queue.name, known);
  }
  if (fits(known.validate, decision)) return;
  const errors = (known.validate.errors ?? []).slice(0, 50).map((e) => ({
    path: `decision${e.instancePath.replaceAll('/', '.')}`,
    message: e.message ?? 'is wrong',
  }));
  throw new Problem('invalid_request', `the decision does not fit the queue's form: ${errors[0]?.message}`, { errors });
}

/** @throws Problem 422 when the decision is to go into a review and holds no status */
export function checkStatus({ callback }: Item, decision: unknown): void {
  if (callback && 'review' in callback && statusOf(decision) === undefined)
    throw invalid('decision.status', 'must be an integer of 32 bits, because the decision goes into a review');
}

/** A form can refer to itself without end; that shows only when it is used. */
function fits(validate: ValidateFunction, decision: unknown): boolean {
  try {
    return validate(decision);
  } catch {
    throw new Problem('invalid_request', "the queue's form cannot be applied to this decision", {
      errors: [{ path: 'decision', message: "cannot be checked: the queue's form refers to itself without end" }],
    });
  }
}

function compile(form: object): ValidateFunction {
  try {
    const validate = new Ajv2020({ strict: false, allErrors: true, logger: false }).compile(form);
    // its answers would be promises, which are true whatever comes of them
    if ('$async' in validate) throw new Error('$async is not supported');
    validate(null);
    return validate;
  } catch (error) {
    throw invalid('form', `is not a JSON Schema: ${(error as Error).message}`);
  }
}
