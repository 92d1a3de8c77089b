import { z } from '@hono/zod-openapi';
import { answer, Page, TextOrNull, texts, Whole } from './common.ts';
import { DELIVERED_KINDS } from './kinds.ts';
import { TEXT_PATTERN } from './names.ts';

export const Delivery = answer('Delivery', {
  n: Whole,
  type: z.string(),
  version: Whole,
  url: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: Whole,
  status: Whole.nullable(),
  error: TextOrNull,
  ...texts('createdAt', 'updatedAt'),
  nextAttemptAt: TextOrNull.describe(
    'Earliest time of the next attempt while pending; in the past: as soon as its host accepts calls. Otherwise null',
  ),
});

/** The kinds that `GET /v1/deliveries` accepts. */
const DeliveryKind = z.enum(DELIVERED_KINDS);

export const ListedDelivery = answer('ListedDelivery', {
  ...Delivery.shape,
  kind: DeliveryKind,
  itemId: z.string().describe('`<task>/<occurrence>` for tasks; percent-encoded in a path'),
  queue: TextOrNull.describe('Of its item; null for reviews'),
  url: z.string().describe('Without its query'),
});

/** The name of any item or queue: jobs' ids and topics may contain any Unicode characters. */
export const anyName = (most: number) =>
  z
    .string()
    .regex(new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${most}}$`, 'u'), `must be 1 to ${most} characters, no control ones`)
    .openapi({ minLength: 1, maxLength: most, pattern: TEXT_PATTERN });

export const DeliveryFilter = Page.extend({
  state: Delivery.shape.state.optional(),
  kind: DeliveryKind.optional(),
  queue: anyName(250).optional(),
  host: anyName(300).optional().describe("Of the URL, with its port unless that is the protocol's own"),
});

export const DeliveryNumber = z.coerce.number().int().min(1).max(2_147_483_647);

export const DeliveryParam = z.object({ kind: DeliveryKind, itemId: anyName(500), n: DeliveryNumber });
