import { z } from '@hono/zod-openapi';
import { PutGold } from '../../contract/courts.ts';
import * as courts from '../../services/cases/courts.ts';
import * as gold from '../../services/cases/gold.ts';
import { checkEntry } from '../../services/shared/problems.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { courtByName } from '../resources.ts';

export const putGoldEndpoint = endpoint('putGoldCases', 'PUT /v1/courts/{court}/gold', {
  ...courtByName,
  summary: 'Replace the cases with known answers, hidden among the others and never in statistics',
  roles: [],
  body: PutGold,
  bodyLimit: LARGE_BODY,
  answers: { 200: z.object({ total: z.number().int() }) },
  problems: ['not_found', 'id_conflict', 'erased'],
  async handle({ ctx, caller, params, body: { cases } }) {
    const court = await courts.get(ctx, params.court);
    for (const [n, one] of cases.entries()) checkEntry(`cases.${n}`, one);
    await gold.put(ctx, court, cases, caller.actor);
    return ok({ total: cases.length });
  },
});
