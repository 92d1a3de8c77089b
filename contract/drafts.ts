import { z } from '@hono/zod-openapi';
import { answer, Json, request, Token } from './common.ts';
import { AnyName } from './names.ts';

export const PutDraft = request('PutDraft', { token: Token, draft: Json });
export const DraftFilter = z.object({ reviewer: AnyName.optional() });
export const Draft = answer('Draft', { draft: Json, at: z.string() });
