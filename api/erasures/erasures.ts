import { Erasure, ErasureAnswer, NewErasure } from '../../contract/erasures.ts';
import { IdParam } from '../../contract/names.ts';
import * as erasures from '../../services/upkeep/erasures.ts';
import { answer, endpoint, ok } from '../endpoint.ts';

export const addErasure = endpoint('addErasure', 'POST /v1/erasures', {
  tag: 'System',
  summary: 'Erase what is kept of an item, or the name of a person wherever it stands, for good',
  roles: [],
  scope: 'unbound',
  body: NewErasure,
  answers: { 202: ErasureAnswer },
  problems: ['not_found'],
  async handle({ ctx, caller, body }) {
    const { id, state } = await erasures.add(ctx, body, caller.actor);
    erasures.look(ctx);
    return answer(202, { id, state });
  },
});

export const getErasure = endpoint('getErasure', 'GET /v1/erasures/{id}', {
  tag: 'System',
  summary: 'How far an erasure has come, and what is kept elsewhere',
  roles: [],
  scope: 'unbound',
  params: IdParam,
  answers: { 200: Erasure },
  problems: ['not_found'],
  async handle({ ctx, params: { id } }) {
    const row = await erasures.find(ctx, id);
    const { state, items, events } = row;
    return ok({ id, state, items, events, remains: await erasures.remains(ctx, row, ctx.client) });
  },
});
