import { z } from '@hono/zod-openapi';
import { Name, Time } from './common.ts';

export const Role = z.enum(['producer', 'reviewer', 'agent', 'consumer', 'admin']).openapi('Role');
export type Role = z.output<typeof Role>;

/** A name, or a beginning of names with a `*` at its end. */
export const QueuePattern = z
  .string()
  .regex(/^[^\p{Cc}*]{0,199}([^\p{Cc}*]|\*)$/u, 'must be a name, or a prefix with * at its end')
  .openapi({ example: 'reports-*' });

export const NewKey = z
  .strictObject({
    name: Name.optional().openapi({ description: 'How events name it; left out: its subject, else its role' }),
    role: Role,
    subject: Name.optional().openapi({ description: 'Whom a reviewer key speaks for' }),
    queues: z.array(QueuePattern).min(1).max(100).nullable().default(null).openapi({
      description: 'Queues, topics, courts and groups where it may act and read; null: all',
    }),
    expiresAt: Time.nullable().default(null),
  })
  .refine((k) => k.role !== 'reviewer' || k.subject !== undefined, {
    message: 'is required of a reviewer key',
    path: ['subject'],
  })
  .openapi('NewKey');

export const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    role: Role,
    subject: z.string().nullable(),
    queues: z.array(z.string()).nullable(),
    expiresAt: z.string().nullable(),
    createdAt: z.string(),
    revokedAt: z.string().nullable(),
  })
  .openapi('Key');

export const MadeKey = Key.extend({
  key: z.string().openapi({ description: 'Shown here and never again' }),
}).openapi('MadeKey');
