import { z } from '@hono/zod-openapi';
import { answer, Page, TextOrNull, texts, Whole } from './common.ts';
import { anyName } from './deliveries.ts';

export const AdminLogPage = z.strictObject({
  ...Page.shape,
  path: anyName(2_000).optional().describe('Only changes of this path'),
});

export const AdminLogEntry = answer('AdminLogEntry', {
  seq: Whole,
  at: z.string(),
  keyId: TextOrNull.describe(
    '`open` where no key is required; null: from the command line, or a sign-in at a provider',
  ),
  actor: z.string().describe('The name of the key, or of the person that it speaks for'),
  ...texts('operation', 'path'),
  body: z.unknown().describe('With its defaults and without secrets; null: none, or a larger one than 16 KB'),
  status: z
    .number()
    .int()
    .nullable()
    .describe('Of the answer; null: the call has not ended, or the process ended first'),
  requestId: TextOrNull,
});
