import type { Item } from '../../contract/items.ts';
import type { Rule } from '../../contract/queues.ts';
import type { Queue } from '../../db/queues.ts';
import { statusOf } from '../../domain/reviews.ts';
import { SchemaError } from '../../runtime/schemas/schemas.ts';
import { invalid, Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';

/** @throws Problem 422 when the JSON Schema itself is wrong, or takes too long */
export async function checkForm(api: Api, form: object): Promise<void> {
  try {
    await api.runtime.schemas.check([form], [null]);
  } catch (error) {
    if (error instanceof SchemaError) throw invalid('form', `is not a JSON Schema that can be used: ${error.message}`);
    throw error;
  }
}

/** @throws Problem 422 when a rule's JSON Schema is wrong, or takes too long */
export async function checkRules(api: Api, rules: Rule[]): Promise<void> {
  if (rules.length === 0) return;
  try {
    await api.runtime.schemas.check(
      rules.map((rule) => rule.when),
      [null],
    );
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const path = error.index === undefined ? 'rules' : `rules.${error.index}.when`;
    throw invalid(path, `is not a JSON Schema that can be used: ${error.message}`);
  }
}

/** @throws Problem 422 naming each place where the decision doesn't fit the queue's form */
export async function checkDecision(api: Api, { form }: Queue, decision: unknown): Promise<void> {
  if (!form) return;
  const misfits = await misfitsOf(api, form, decision);
  if (misfits.length === 0) return;
  const errors = misfits.map(({ path, message }) => ({ path: `decision${path}`, message }));
  throw new Problem('invalid_request', `the decision does not fit the queue's form: ${errors[0]?.message}`, { errors });
}

async function misfitsOf(api: Api, form: object, decision: unknown) {
  try {
    return (await api.runtime.schemas.check([form], [decision]))[0]?.[0] ?? [];
  } catch (error) {
    if (error instanceof SchemaError) return [{ path: '', message: `cannot be checked: ${error.message}` }];
    throw error;
  }
}

/** @throws Problem 422 when the decision is to go into a review and holds no status */
export function checkStatus({ callback }: Item, decision: unknown): void {
  if (callback && 'review' in callback && statusOf(decision) === undefined)
    throw invalid('decision.status', 'must be an integer of 32 bits, because the decision goes into a review');
}
