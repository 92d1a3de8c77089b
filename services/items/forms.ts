import type { Item } from '../../contract/items.ts';
import type { QueueSettings } from '../../contract/queues.ts';
import type { QueueRow } from '../../db/statements.ts';
import { statusOf } from '../../domain/reviews.ts';
import { SchemaError } from '../../runtime/schemas/schemas.ts';
import { type Context, invalid, Problem } from '../shared/service.ts';

/** @throws Problem 422 when the JSON Schema of the form or of a rule is wrong, or takes too long */
export async function checkSettings(
  ctx: Context,
  queue: string,
  { form, rules }: Pick<QueueSettings, 'form' | 'rules'>,
): Promise<void> {
  if (form) await checkSchemas(ctx, queue, [form], () => 'form');
  const conditions = rules.map((rule) => rule.when);
  await checkSchemas(ctx, queue, conditions, (n) => (n === undefined ? 'rules' : `rules.${n}.when`));
}

async function checkSchemas(
  { schemas }: Context,
  queue: string,
  all: object[],
  pathOf: (index?: number) => string,
): Promise<void> {
  if (all.length === 0) return;
  for (const [n, schema] of all.entries())
    if (comparesAll(schema))
      throw invalid(
        pathOf(n),
        'has uniqueItems without items of one type of string, number, integer or boolean: each would be compared with all others',
      );
  try {
    // apart from the queue's checks: its settings can be changed while these run out of time
    await schemas.check(`settings of ${queue}`, all, [null]);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw invalid(pathOf(error.index), `is not a JSON Schema that can be used: ${error.message}`);
  }
}

const SCALARS: unknown[] = ['string', 'number', 'integer', 'boolean'];
/** Keywords whose members are schemas by name, and those whose value is no schema. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const VALUES = new Set(['const', 'enum', 'default', 'examples']);

/** Whether a list would be checked in time that grows with the square of its length. */
function comparesAll(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(comparesAll);
  if (typeof schema !== 'object' || schema === null) return false;
  const { uniqueItems, items } = schema as { uniqueItems?: unknown; items?: { type?: unknown } };
  if (uniqueItems === true && !SCALARS.includes(items?.type)) return true;
  return Object.entries(schema).some(([name, value]) =>
    NAMED.has(name) ? Object.values(value ?? {}).some(comparesAll) : !VALUES.has(name) && comparesAll(value),
  );
}

/** The guidelines that a form names, each once. */
function guidelinesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const named = Object.entries(schema).flatMap(([key, value]) =>
    key === 'x-guideline' && typeof value === 'string' ? [value] : guidelinesOf(value),
  );
  return [...new Set(named)];
}

/** Of gold, so much is checked when the form changes. */
const MOST_GOLD = 1_000;

const LIMITS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
] as const;
type Limited = { [limit in (typeof LIMITS)[number][number]]?: number } & { properties?: object; items?: object };

/** What is wrong with a form that is a JSON Schema, yet that no decision fits: a least above its most. */
function contradictionsOf(schema: Limited, name = 'decision'): string[] {
  const own = LIMITS.filter(([least, most]) => (schema[least] ?? -Infinity) > (schema[most] ?? Infinity));
  return [
    ...own.map(([least, most]) => `the form's ${name} has ${least} ${schema[least]} above ${most} ${schema[most]}`),
    ...Object.entries(schema.properties ?? {}).flatMap(([field, of]) => contradictionsOf(of, field)),
    ...(schema.items ? contradictionsOf(schema.items, name) : []),
  ];
}

/** Keywords by which an object may have members that `properties` does not name. */
const OTHERS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties'];

/** Whether a decision that fits a form may have something at a JSON pointer. */
function hasPlace(form: object, pointer: string): boolean {
  let at: { properties?: Record<string, object> } = form;
  for (const step of pointer.split('/').slice(1)) {
    if (!at.properties || OTHERS.some((keyword) => keyword in at)) return true;
    const next = at.properties[step.replaceAll('~1', '/').replaceAll('~0', '~')];
    if (next === undefined) return false;
    at = next;
  }
  return true;
}

/** The queue's gold whose known answers do not fit a form, so that nobody can give them. */
async function misfitGold(ctx: Context, queue: string, form: object): Promise<string[]> {
  const gold = await ctx.db.run('gold_answers', { queue, limit: MOST_GOLD });
  const answers = gold.map(({ answer }) => answer);
  const misfits = await ctx.schemas.check(`settings of ${queue}`, [form], answers).catch(() => []);
  return gold.filter((_, n) => misfits[n]?.[0]?.length).map(({ id }) => id);
}

/** What is probably meant otherwise in a queue's form, or in the settings that refer to it. */
export async function formWarnings(ctx: Context, queue: string, settings: QueueSettings): Promise<string[]> {
  const { form, guidelines, second } = settings;
  if (!form) return [];
  const without = guidelinesOf(form).filter((name) => !Object.hasOwn(guidelines, name));
  const nowhere = (second.compare ?? []).filter((pointer) => !hasPlace(form, pointer));
  const gold = await misfitGold(ctx, queue, form);
  return [
    ...without.map((name) => `the form names the guideline ${name}, which the queue does not have`),
    ...nowhere.map((pointer) => `second.compare names ${pointer}, which no decision has that fits the form`),
    ...contradictionsOf(form),
    ...(gold.length > 0 ? [`the known answers of gold do not fit the form: ${gold.slice(0, 10).join(', ')}`] : []),
  ];
}

type Checked = Pick<QueueRow, 'name' | 'settings_version'>;

/** Whose checks these are: a queue has a new budget with each change of its settings. */
export const ownerOf = ({ name, settings_version }: Checked): string => `${name}/${settings_version}`;

/** @throws Problem 422 with each path at which the decision doesn't fit the queue's form, `rate_limited` */
async function checkDecision(
  ctx: Context,
  queue: Checked,
  form: object,
  decision: unknown,
  at = 'decision',
): Promise<void> {
  const misfits = await misfitsOf(ctx, ownerOf(queue), form, decision);
  if (misfits.length === 0) return;
  const errors = misfits.map(({ path, message }) => ({ path: `${at}${path}`, message }));
  throw new Problem(
    'invalid_request',
    `the ${at === 'decision' ? at : 'answer'} does not fit the queue's form: ${errors[0]?.message}`,
    { errors },
  );
}

/** Whether a decision fits a form. @throws Problem `rate_limited` */
export const fits = async (ctx: Context, queue: Checked, form: object, decision: unknown): Promise<boolean> =>
  (await misfitsOf(ctx, ownerOf(queue), form, decision)).length === 0;

async function misfitsOf({ schemas }: Context, owner: string, form: object, decision: unknown) {
  try {
    return (await schemas.check(owner, [form], [decision]))[0]?.[0] ?? [];
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const { message, retryAfter } = error;
    if (retryAfter !== undefined) throw new Problem('rate_limited', `the form ${message}`, { retryAfter });
    return [{ path: '', message: `cannot be checked: ${message}` }];
  }
}

/** The queue whose form counts for a ticket: of a second look, that of what it is about. */
export const formQueueOf = ({ look, queue }: Pick<Item, 'look' | 'queue'>): string => look?.queue ?? queue;

/**
 * Checks a decision by a queue's form.
 * @param at where it stands in the call; left out: at `decision`
 * @returns the version of the settings whose form it fits; null without a form
 * @throws as `checkDecision`
 */
export async function fitForm(
  ctx: Context,
  queue: QueueRow | undefined,
  decision: unknown,
  at?: string,
): Promise<number | null> {
  if (!queue?.form) return null;
  await checkDecision(ctx, queue, queue.form, decision, at);
  return queue.settings_version;
}

/** The same for the decision of a ticket. @throws also as `checkStatus` */
export function fitTicket(ctx: Context, item: Item, queue: QueueRow | undefined, decision: unknown) {
  checkStatus(item, decision);
  return fitForm(ctx, queue, decision);
}

/** @throws Problem 422 when the decision is to go into a review and holds no status */
function checkStatus({ callback }: Item, decision: unknown): void {
  if (callback && 'review' in callback && statusOf(decision) === undefined)
    throw invalid('decision.status', 'must be an integer of 32 bits, because the decision goes into a review');
}
