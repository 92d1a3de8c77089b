import { z } from '@hono/zod-openapi';
import { answer, nullByDefault, TextOrNull, Texts, Time, texts, Whole, whole } from './common.ts';
import { ROLES } from './kinds.ts';
import { AnyId, CONTROL, Name, NOT_THE_SERVERS } from './names.ts';

export const Role = z.enum(ROLES).openapi('Role');
export type Role = z.output<typeof Role>;

/** A name, or a prefix of names with a `*` at its end. */
export const QueuePattern = z
  .string()
  .regex(/^[^\p{Cc}*]{0,199}([^\p{Cc}*]|\*)$/u, 'must be a name, or a prefix with * at its end')
  // a pattern of a schema has no flags
  .openapi({ pattern: `^[^${CONTROL}*]{0,199}([^${CONTROL}*]|\\*)$` });

/** Keys of these roles speak for one person or model. */
export const needsSubject = (role: Role): boolean => role === 'reviewer' || role === 'model';

export const NewKey = z
  .strictObject({
    name: AnyId.refine(...NOT_THE_SERVERS)
      .optional()
      .describe('How events name it; left out: its subject, else its role'),
    role: Role,
    subject: Name.refine(...NOT_THE_SERVERS)
      .optional()
      .describe('The person that a reviewer key acts for, or the model of a model key'),
    queues: nullByDefault(z.array(QueuePattern).min(1).max(100)).describe(
      'Queues, topics, courts and groups where it may act and read; null: all',
    ),
    expiresAt: nullByDefault(Time),
    callsPerSecond: nullByDefault(whole(1, 1_000_000)).describe('Most calls a second to each process; null: unlimited'),
  })
  .refine(({ role, subject }) => subject !== undefined || !needsSubject(role), {
    message: 'is required of a reviewer or model key',
    path: ['subject'],
  })
  .openapi('NewKey');

export const Key = answer('Key', {
  ...texts('id', 'name'),
  role: Role,
  subject: TextOrNull,
  queues: Texts.nullable(),
  expiresAt: TextOrNull,
  callsPerSecond: Whole.nullable(),
  issuer: TextOrNull.describe('The provider at which this person signs in; null: a key'),
  createdAt: z.string(),
  revokedAt: TextOrNull,
});

export const MadeKey = answer('MadeKey', {
  ...Key.shape,
  key: z.string().describe('Shown here and never again'),
});
