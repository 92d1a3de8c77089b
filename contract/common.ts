import { z } from '@hono/zod-openapi';
import { AnyId, chosenName, Id } from './names.ts';

/**
 * A body of a request, which may have no other fields, and an answer, to which later versions may add some.
 * @param name in the document
 */
export const request = <Shape extends z.ZodRawShape>(name: string, shape: Shape) => z.strictObject(shape).openapi(name);
export const answer = <Shape extends z.ZodRawShape>(name: string, shape: Shape) => z.object(shape).openapi(name);

/** Limit of a body that is no batch, and of each entry of a batch, in bytes. */
export const SMALL_BODY = 256 * 1024;

/** In the view of an item. */
export const Erased = z.boolean().optional().describe('Only true, where all of its content is gone');

export const Token = z.string().min(1).max(200);

export const TEN_YEARS = 315_360_000;

export const Whole = z.number().int();
export const whole = (min: number, max: number) => Whole.min(min).max(max);

/** A duration in seconds, fractions allowed, up to ten years. */
export const Seconds = z.number().min(0).max(TEN_YEARS);
export const PositiveSeconds = z.number().min(0.001).max(TEN_YEARS);
/** How long a call may wait, in seconds: 0…60. */
export const WaitSeconds = z.number().min(0).max(60).default(0);
export const priorityRange = { min: -1000, max: 1000 };
export const Priority = whole(priorityRange.min, priorityRange.max);
/** A time to the second without its zone. Checks every digit, because whatever the document allows must be accepted. */
const SECOND =
  '(19[7-9]\\d|[2-8]\\d{3})-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2\\d))' +
  'T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d';
/** ISO 8601 with a time zone, from 1970 to 8999. Only times that PostgreSQL reads: existing zones, up to so many digits of a fraction. */
const timeWith = (digits: number) => {
  const pattern = new RegExp(`^${SECOND}(\\.\\d{1,${digits}})?(Z|[+-](0\\d|1[0-5]):[0-5]\\d)$`);
  const form = `must be ISO 8601 with seconds, ${digits} digits after the point at most, and a zone from -15:59 to +15:59`;
  const range = 'must be a time from 1970 to 8999';
  // with another year it is one: only the year is wrong
  const error = ({ input }: { input?: unknown }) =>
    pattern.test(String(input).replace(/^\d{4}/, '2000')) ? range : form;
  return z
    .string()
    .regex(pattern, { error, abort: true })
    .refine((t) => z.iso.datetime({ offset: true }).safeParse(t).success, {
      error: 'must be a day that exists',
      abort: true,
    })
    .refine((t) => Date.parse(t) >= 0, range);
};
export const Time = timeWith(9);
/** To the microsecond, as the database keeps it. */
export const PreciseTime = timeWith(6);
/** A time zone as its database spells it; undefined: there is none of this name. */
const spelledZone = (name: string): string | undefined => {
  // PostgreSQL reads a zone that begins with a sign as the opposite offset, and Temporal knows no offsets
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    // an alias keeps its name, whose spelling is known in one case only
    return timeZone.toLowerCase() === name.toLowerCase() || name === name.toLowerCase() ? timeZone : name;
  } catch {
    return undefined;
  }
};
/** In any case; PostgreSQL would take them, and Temporal would not. */
export const Timezone = z
  .string()
  .max(100)
  .refine((name) => spelledZone(name) !== undefined, { error: 'is not a time zone', abort: true })
  .overwrite((name) => spelledZone(name) ?? name);

const fieldsOf =
  <Field extends z.ZodType>(field: Field) =>
  <N extends string>(...names: N[]) =>
    Object.fromEntries(names.map((name) => [name, field])) as Record<N, Field>;
export const Texts = z.array(z.string());
export const TextOrNull = z.string().nullable();
/** Fields of an answer that count something, and those that are texts. */
export const counts = fieldsOf(Whole);
export const texts = fieldsOf(z.string());
export const textsOrNull = fieldsOf(TextOrNull);

export const Text = z.string().max(2000);
export const Reason = z.string().min(1, 'must not be empty').max(2000);
/** Any JSON value, null included. Its content was checked when the body was parsed. */
export const Json = z.unknown().refine((value) => value !== undefined, 'is required');
export const Skills = z.array(AnyId).max(200);
/** The skills that a ticket requires. Together they are a key of an index, which limits their length. */
export const Requires = z
  .array(AnyId)
  .max(50)
  .refine((names) => names.join().length <= 2000, 'may have 2,000 characters together');

const NO_CURSOR = 'is not a cursor of this list';
const cursor = (pattern: RegExp) => z.string().regex(pattern, { error: NO_CURSOR, abort: true });

/** A page of a list that is ordered by a number. Cursors are opaque; the pattern lets programs check them. */
export const Page = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: cursor(/^\d{1,15}$/)
    .transform(Number)
    .optional(),
});

/** A page of a list that is ordered by a time, then by a number. */
export const PageByTime = Page.extend({
  cursor: cursor(new RegExp(`^${SECOND}\\.\\d{3}Z_\\d{1,15}$`))
    .refine((text) => Time.safeParse(text.slice(0, 24)).success, NO_CURSOR)
    .transform((text) => ({ time: text.slice(0, 24), seq: Number(text.slice(25)) }))
    .optional(),
});

/** A page of a list that is ordered by a text; its cursor is the text of the last entry. */
export const pageByText = (pattern: RegExp, shown = pattern.source) =>
  Page.extend({ cursor: cursor(pattern).openapi({ pattern: shown }).optional() });

export const pageOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), nextCursor: TextOrNull });

/** A setting that may be left out, which is null. */
export const nullByDefault = <T extends z.ZodType>(schema: T) => schema.nullable().default(null);

/** A schema or null. Making a named schema nullable in place would change all its uses in the document. */
export const orNull = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);

/**
 * A condition in the document. Uses `if`, which generators of clients ignore: from `oneOf` and `anyOf` they would make
 * types without the fields.
 */
export const conditional = (condition: object, met: object, otherwise: object) =>
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ({ if: condition, then: met, else: otherwise }) as Record<never, never>;

/** In the document: exactly one of these fields is given. */
export const oneOf = (one: string, other: string) =>
  conditional({ required: [one] }, { not: { required: [other] } }, { required: [other] });

/** The text, a picture or a reply of a review. */
export const target = { kind: z.enum(['text', 'picture', 'reply']), targetId: Id.optional() };
const namesTarget = ({ kind, targetId }: { kind?: unknown; targetId?: unknown }) =>
  kind === 'text' || targetId !== undefined;
/** An object with these fields; `targetId` is required for every kind but the text, also in the document. */
export const targeted = <Shape extends typeof target & z.ZodRawShape>(name: string, shape: Shape) =>
  z
    .strictObject(shape)
    .refine(namesTarget, { message: 'is required', path: ['targetId'] })
    .openapi(name, conditional({ properties: { kind: { const: 'text' } } }, {}, { required: ['targetId'] }));

/** Checks that exactly one of two fields is given. */
export const either = <One extends string, Other extends string>(one: One, other: Other) =>
  [
    (body: { [Name in One | Other]?: unknown }) => (body[one] === undefined) !== (body[other] === undefined),
    { message: `give either ${one} or ${other}`, path: [one] as PropertyKey[] },
  ] as const;

export const Pointer = z.string().regex(/^(\/([^~/]|~[01])*)*$/, 'must be a JSON pointer');

export const Deleted = z.object({ deleted: z.boolean() });

const SCHEME = 'temporal://';

/** A receiver over HTTP. */
export const SignedCallback = request('Callback', {
  url: z
    .string()
    .max(2000)
    .refine((url) => !isWorkflow(url), 'must be http or https')
    .openapi({ pattern: '^https?://' }),
  secret: z
    .string()
    // 8 to 20 groups of three bytes, then up to four bytes
    .regex(
      /^whsec_([A-Za-z0-9+/]{4}){8,20}([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{4}[A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$/,
      'must be whsec_ and base64 of 24 to 64 bytes',
    ),
});

/** A workflow that receives outcomes as signals (B.1). */
const Target = z.strictObject({
  namespace: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,199}$/, 'must be the name of a namespace'),
  workflowId: chosenName(1000),
  runId: chosenName(200).optional().openapi({ description: 'Left out: the run that is open then' }),
  signal: chosenName(200),
});
export type WorkflowTarget = z.infer<typeof Target>;
export const ShownWorkflow = request('WorkflowCallback', { temporal: Target });

/** Where outcomes go. A workflow is kept as a URL, so that its deliveries are listed, counted and sent like any others. */
export const Callback = z.union([
  SignedCallback,
  ShownWorkflow.transform(({ temporal }) => ({ url: urlOf(temporal) })),
]);

/** A receiver over HTTP in an answer. */
export const ShownSigned = answer('ShownCallback', {
  url: z.string(),
  secret: z.string().describe('`whsec_hidden` for those who may not set it'),
});

export const ShownCallback = z.union([ShownSigned, ShownWorkflow]);

export const isWorkflow = (url: string): boolean => url.slice(0, SCHEME.length).toLowerCase() === SCHEME;

function urlOf({ namespace, workflowId, runId, signal }: WorkflowTarget): string {
  const run = runId === undefined ? '' : `?${encodeURIComponent(runId)}`;
  return `${SCHEME}${namespace}/${encodeURIComponent(workflowId)}/${encodeURIComponent(signal)}${run}`;
}

export function workflowOf(url: string): WorkflowTarget {
  const [path = '', run] = url.slice(SCHEME.length).split('?');
  const [namespace = '', workflowId = '', signal = ''] = path.split('/').map(decodeURIComponent);
  return { namespace, workflowId, ...(run !== undefined && { runId: decodeURIComponent(run) }), signal };
}
