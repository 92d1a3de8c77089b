import { z } from '@hono/zod-openapi';
import { answer, orNull, request, TextOrNull, Texts } from './common.ts';
import { Role } from './keys.ts';

export const SignIn = request('SignIn', {
  key: z.string().min(1).max(200).describe('A key, `docket_…`'),
});

export const SignInWays = answer('SignInWays', {
  openId: orNull(z.object({ issuer: z.string() })).describe('null: with a key only'),
});

export const Session = answer('Session', {
  open: z.boolean().describe('The server requires no key, and none was sent: the caller is an administrator'),
  role: Role,
  subject: TextOrNull,
  queues: Texts.nullable(),
  name: TextOrNull,
  expiresAt: TextOrNull.describe('When the session ends; null: no cookie was sent'),
});
