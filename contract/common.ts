import { z } from '@hono/zod-openapi';

/** Ids and names: 1–200 of `A-Za-z0-9._:~@-`. */
export const Name = z
  .string()
  .regex(/^[A-Za-z0-9._:~@-]{1,200}$/, 'must be 1 to 200 characters of A-Za-z0-9._:~@-')
  .openapi({ example: 'reports' });

const TEN_YEARS = 315_360_000;

/** A duration in seconds, fractions allowed, up to ten years. */
export const Seconds = z.number().min(0).max(TEN_YEARS);
export const PositiveSeconds = z.number().min(0.001).max(TEN_YEARS);
/** How long a call may wait for something to happen: 0…60 s. */
export const WaitSeconds = z.number().min(0).max(60).default(0);
export const priorityRange = { min: -1000, max: 1000 };
export const Priority = z.number().int().min(priorityRange.min).max(priorityRange.max);
/** What PostgreSQL reads as well: nine digits of a fraction, zones that exist. */
const COMMON_TIME = /:\d\d(\.\d{1,9})?(Z|[+-](0\d|1[0-5]):\d\d)$/;
/** ISO 8601 with a time zone, from 1970 to 9999. */
export const Time = z.iso
  .datetime({ offset: true })
  .regex(COMMON_TIME, 'must have 9 digits after the point at most, and a zone from -15:59 to +15:59')
  .refine((t) => Date.parse(t) >= 0 && Date.parse(t) < Date.parse('9999-01-01T00:00:00Z'), 'must be a time after 1970')
  .openapi({ example: '2026-11-21T09:30:00.000Z' });
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
export const Json = z
  .unknown()
  .refine((value) => value !== undefined, 'is required')
  .openapi({ type: ['object', 'array', 'string', 'number', 'boolean', 'null'] });
export const Names = z.array(Name).max(1000);
export const Skills = z.array(Name).max(200);
/** What a ticket asks for; together it is a key of the index that claims read, which bounds its length. */
export const Requires = z
  .array(Name)
  .max(50)
  .refine((names) => names.join().length <= 2000, 'may have 2,000 characters together');

export const Callback = z
  .strictObject({
    url: z.string().max(2000),
    secret: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/, 'must be whsec_ and base64')
      .refine((s) => {
        const bytes = Buffer.from(s.slice(6), 'base64').length;
        return bytes >= 24 && bytes <= 64;
      }, 'must be 24 to 64 bytes'),
  })
  .openapi('Callback');

export const Page = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: z.string().max(500).optional(),
});

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });

/** What a deletion answers. */
export const Deleted = z.object({ deleted: z.boolean() });

export const IdParam = z.object({ id: Name });
export const QueueParam = z.object({ queue: Name });
