import type { Item } from '../../contract/items.ts';
import type { QueueSettings } from '../../contract/queues.ts';
import { statusOf } from '../../domain/reviews.ts';
import { SchemaError } from '../../runtime/schemas/schemas.ts';
import type { Context } from '../shared/context.ts';
import { invalid, Problem } from '../shared/problems.ts';

/** @throws Problem 422 when the JSON Schema of the form or of a rule is wrong, or takes too long */
export async function checkSettings(ctx: Context, { form, rules }: Pick<QueueSettings, 'form' | 'rules'>) {
  if (form) await checkSchemas(ctx, [form], () => 'form');
  const conditions = rules.map((rule) => rule.when);
  await checkSchemas(ctx, conditions, (n) => (n === undefined ? 'rules' : `rules.${n}.when`));
}

async function checkSchemas({ schemas }: Context, all: object[], pathOf: (index?: number) => string): Promise<void> {
  if (all.length === 0) return;
  try {
    await schemas.check(all, [null]);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw invalid(pathOf(error.index), `is not a JSON Schema that can be used: ${error.message}`);
  }
}

/** @throws Problem 422 with each path at which the decision doesn't fit the queue's form */
export async function checkDecision(ctx: Context, form: object, decision: unknown): Promise<void> {
  const misfits = await misfitsOf(ctx, form, decision);
  if (misfits.length === 0) return;
  const errors = misfits.map(({ path, message }) => ({ path: `decision${path}`, message }));
  throw new Problem('invalid_request', `the decision does not fit the queue's form: ${errors[0]?.message}`, { errors });
}

async function misfitsOf({ schemas }: Context, form: object, decision: unknown) {
  try {
    return (await schemas.check([form], [decision]))[0]?.[0] ?? [];
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
