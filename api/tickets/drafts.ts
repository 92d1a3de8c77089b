import { z } from '@hono/zod-openapi';
import { Draft, DraftFilter, PutDraft } from '../../contract/drafts.ts';
import * as drafts from '../../services/tickets/drafts.ts';
import { boundTo, personOf } from '../auth.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { ticketById } from '../resources.ts';
import { visibleTicket } from './get.ts';

export const putDraft = endpoint('putTicketDraft', 'PUT /v1/tickets/{id}/draft', {
  ...ticketById,
  summary: 'Keep what the holder has filled in of a decision, at most 64 KB; only its writer sees it',
  roles: ['reviewer', 'agent'],
  body: PutDraft,
  answers: { 204: z.undefined() },
  problems: ['not_found', 'not_open', 'lease_lost', 'payload_too_large'],
  async handle({ ctx, caller, params: { id }, body: { token, draft } }) {
    await drafts.put(ctx, { id, token, subject: boundTo(caller) }, draft);
    return answer(204, undefined);
  },
});

export const getDraft = endpoint('getTicketDraft', 'GET /v1/tickets/{id}/draft', {
  ...ticketById,
  summary: "The caller's own draft, until a day after their lease; 204: there is none, or it has ended",
  roles: ['reviewer', 'agent'],
  query: DraftFilter,
  answers: { 200: Draft, 204: z.undefined() },
  async handle({ ctx, caller, params: { id }, query: { reviewer } }) {
    await visibleTicket(ctx, caller, id);
    const found = await drafts.get(ctx, id, personOf(caller, reviewer));
    return found ? ok({ draft: found.draft, at: found.at.toISOString() }) : answer(204, undefined);
  },
});
