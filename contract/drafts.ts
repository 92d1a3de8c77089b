import { z } from '@hono/zod-openapi';
import { Json, Token } from './common.ts';
import { AnyName } from './names.ts';

export const PutDraft = z.strictObject({ token: Token, draft: Json }).openapi('PutDraft');
export const DraftFilter = z.object({ reviewer: AnyName.optional() });
export const Draft = z.object({ draft: Json, at: z.string() }).openapi('Draft');
