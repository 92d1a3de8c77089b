import { z } from '@hono/zod-openapi';

/** What a body may have, unless it is a batch, and an entry of a batch; bytes. */
export const SMALL_BODY = 256 * 1024;

/** Ids and names: 1–200 of `A-Za-z0-9._:~@-`. */
export const Name = z.string().regex(/^[A-Za-z0-9._:~@-]{1,200}$/, 'must be 1 to 200 characters of A-Za-z0-9._:~@-');

/** Of a lease. */
export const Token = z.string().min(1).max(200);

export const TEN_YEARS = 315_360_000;

/** A duration in seconds, fractions allowed, up to ten years. */
export const Seconds = z.number().min(0).max(TEN_YEARS);
export const PositiveSeconds = z.number().min(0.001).max(TEN_YEARS);
/** How long a call may wait for something to happen: 0…60 s. */
export const WaitSeconds = z.number().min(0).max(60).default(0);
export const priorityRange = { min: -1000, max: 1000 };
export const Priority = z.number().int().min(priorityRange.min).max(priorityRange.max);
/** To the second, without its zone; the whole of it, because what the document allows is accepted. */
const SECOND =
  '(19[7-9]\\d|[2-8]\\d{3})-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2\\d))' +
  'T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d';
/** What PostgreSQL reads as well: nine digits of a fraction, zones that exist. */
const ZONED = new RegExp(`^${SECOND}(\\.\\d{1,9})?(Z|[+-](0\\d|1[0-5]):[0-5]\\d)$`);
/** ISO 8601 with a time zone, from 1970 to 8999. */
export const Time = z
  .string()
  .regex(ZONED, 'must be ISO 8601 with seconds, 9 digits after the point at most, and a zone from -15:59 to +15:59')
  .refine(
    (t) => z.iso.datetime({ offset: true }).safeParse(t).success && Date.parse(t) >= 0,
    'must be a time after 1970',
  );
export const isTimezone = (name: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
};

export const Text = z.string().max(2000);
export const Reason = z.string().min(1).max(2000);
/** Any JSON value, null included; it has been parsed and checked by then, so nothing is left to walk. */
export const Json = z.unknown().refine((value) => value !== undefined, 'is required');
export const Names = z.array(Name).max(1000);
export const Skills = z.array(Name).max(200);
/** What a ticket asks for; together it is a key of the index that claims read, which bounds its length. */
export const Requires = z
  .array(Name)
  .max(50)
  .refine((names) => names.join().length <= 2000, 'may have 2,000 characters together');

export const Callback = z
  .strictObject({
    url: z.string().max(2000).openapi({ pattern: '^https?://' }),
    secret: z
      .string()
      // groups of three bytes; behind 63 bytes one more fits
      .regex(
        /^whsec_([A-Za-z0-9+/]{4}){8,20}([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{4}[A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$/,
        'must be whsec_ and base64 of 24 to 64 bytes',
      ),
  })
  .openapi('Callback');

/** A callback in an answer. */
export const ShownCallback = z
  .object({
    url: z.string(),
    secret: z.string().openapi({ description: '`whsec_hidden` for those who may not set it' }),
  })
  .openapi('ShownCallback');

const cursor = (pattern: RegExp) => z.string().regex(pattern, 'is not a cursor of this list');

/** A page of a list in the order of a number. Cursors are opaque to callers; the pattern is for those who check. */
export const Page = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: cursor(/^\d{1,15}$/)
    .transform(Number)
    .optional(),
});

/** The same in the order of a time and, where it is the same, a number. */
export const PageByTime = Page.extend({
  cursor: cursor(new RegExp(`^${SECOND}\\.\\d{3}Z_\\d{1,15}$`))
    .refine((text) => Date.parse(text.split('_')[0] ?? '') >= 0, 'is not a cursor of this list')
    .transform((text) => ({ time: text.slice(0, 24), seq: Number(text.slice(25)) }))
    .optional(),
});

/** A page in the order of a text, which is its last entry's. */
export const pageByText = (pattern: RegExp, shown = pattern.source) =>
  Page.extend({ cursor: cursor(pattern).openapi({ pattern: shown }).optional() });

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });

/**
 * This or null. What has a name of its own in the document must not be made nullable in place: that would say it of
 * every use of the name.
 */
export const orNull = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);

/**
 * For the document: a condition. Written with `if`, which generators of clients pass over; of `oneOf` and `anyOf` they would
 * make types of their own, without the fields.
 */
export const conditional = (condition: object, met: object, otherwise: object) =>
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ({ if: condition, then: met, else: otherwise }) as Record<never, never>;

/** For the document: exactly one of these fields is given. */
export const oneOf = (one: string, other: string) =>
  conditional({ required: [one] }, { not: { required: [other] } }, { required: [other] });

/** For the document: what is not about the text says about what it is. */
export const targeted = conditional({ properties: { kind: { const: 'text' } } }, {}, { required: ['targetId'] });

/** What a deletion answers. */
export const Deleted = z.object({ deleted: z.boolean() });

export const IdParam = z.object({ id: Name });
export const QueueParam = z.object({ queue: Name });
