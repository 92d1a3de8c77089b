import { z } from '@hono/zod-openapi';
import { Callback, Name, PositiveSeconds, Priority, Seconds } from './common.ts';

const Escalation = z.strictObject({ afterSeconds: Seconds, priority: Priority });

/** Settings of a ticket queue; PUT replaces all of them. */
export const QueueSettings = z
  .strictObject({
    leaseSeconds: PositiveSeconds.default(300),
    ageing: z.strictObject({ secondsPerLevel: PositiveSeconds }).nullable().default(null).openapi({
      description: 'Seconds of waiting worth one priority level; null: strict priority',
    }),
    escalations: z.array(Escalation).max(50).default([]),
    reclaimedFirst: z.boolean().default(false),
    maxHeld: z.number().int().min(1).max(1000).default(1),
    maxAttempts: z.number().int().min(1).max(1_000_000).nullable().default(null),
    deadlineSeconds: Seconds.nullable().default(null),
    callback: Callback.nullable().default(null),
    form: z
      .record(z.string(), z.unknown())
      .nullable()
      .default(null)
      .openapi({ description: 'JSON Schema of the decision' }),
  })
  .openapi('QueueSettings');

export const Queue = z
  .object({
    name: Name,
    paused: z.boolean(),
    ...QueueSettings.shape,
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi('Queue');

export const QueueStats = z
  .object({
    delayed: z.number().int(),
    waiting: z.number().int(),
    held: z.number().int(),
    decided: z.number().int(),
    invalidated: z.number().int(),
    expired: z.number().int(),
    dead: z.number().int(),
    oldestWaitingSeconds: z.number().nullable(),
    claimsPerMinute: z.number().int(),
    leaseExpiries: z.number().int(),
  })
  .openapi('QueueStats');
