import { z } from '@hono/zod-openapi';
import { answer, Page, texts } from './common.ts';

export const AdminLogPage = z.strictObject({
  ...Page.shape,
  path: z.string().min(1).max(2_000).optional().openapi({ description: 'Only changes of this path' }),
});

export const AdminLogEntry = answer('AdminLogEntry', {
  seq: z.number().int(),
  at: z.string(),
  keyId: z.string().nullable().openapi({
    description: '`open` where no key is required; null: from the command line, or a sign-in at a provider',
  }),
  actor: z.string().openapi({ description: 'The name of the key, or of the person that it speaks for' }),
  ...texts('operation', 'path'),
  body: z
    .unknown()
    .openapi({ description: 'With its defaults and without secrets; null: none, or a larger one than 16 KB' }),
  status: z.number().int().nullable().openapi({
    description: 'Of the answer; null: the call has not ended, or the process ended first',
  }),
  requestId: z.string().nullable(),
});
