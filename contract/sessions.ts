import { z } from '@hono/zod-openapi';
import { answer, orNull, request } from './common.ts';
import { Role } from './keys.ts';

export const SignIn = request('SignIn', {
  key: z.string().min(1).max(200).openapi({ description: 'A key, `docket_…`' }),
});

export const SignInWays = answer('SignInWays', {
  openId: orNull(z.object({ issuer: z.string() })).openapi({ description: 'null: with a key only' }),
});

export const Session = answer('Session', {
  open: z
    .boolean()
    .openapi({ description: 'The server requires no key, and none was sent: the caller is an administrator' }),
  role: Role,
  subject: z.string().nullable(),
  queues: z.array(z.string()).nullable(),
  name: z.string().nullable(),
  expiresAt: z.string().nullable().openapi({ description: 'When the session ends; null: no cookie was sent' }),
});
