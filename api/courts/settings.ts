import { Deleted, Page, pageOf } from '../../contract/common.ts';
import { Court, type CourtSettings, DryRun, NewCourtParam, PutCourt } from '../../contract/courts.ts';
import * as courts from '../../services/cases/courts.ts';
import { checkCallback } from '../../services/shared/callbacks.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { shownCallback } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { listed } from '../paging.ts';
import { courtByName } from '../resources.ts';
import { viewOf } from '../views.ts';

const fields = viewOf(Court);
function view(api: Api, court: courts.Court, caller: Caller) {
  const { window_cases: cases, window_seconds: seconds, assign_jurors: jurors, answer_seconds: answerSeconds } = court;
  const { invites_per_day: perJurorPerDay, invites_open: perJuror, admit, pick, decide } = court;
  return {
    ...fields(court),
    window: cases === null || seconds === null ? null : { cases, seconds },
    assign: jurors === null || answerSeconds === null ? null : { jurors, answerSeconds, perJurorPerDay, perJuror },
    lateVotes: court.record_late ? ('record' as const) : ('refuse' as const),
    strategy: { admit, pick, decide },
    callback: shownCallback(api, caller, court.callback),
    invitationCallback: shownCallback(api, caller, court.invitation_callback),
  };
}

/** The court or queue that receives hung cases. */
function appealOf({ fallback }: CourtSettings): string | undefined {
  if (fallback === null) return undefined;
  if ('court' in fallback) return fallback.court;
  return 'queue' in fallback ? fallback.queue : undefined;
}

export const putCourtEndpoint = endpoint('putCourt', 'PUT /v1/courts/{court}', {
  tag: 'Courts',
  summary:
    'Replace all settings; acts at once, also on open cases; dryRun: which of them it would decide, leave open or hang, and which forbid it',
  roles: [],
  scope: { queue: ({ params, body }) => [params.court, appealOf(body)] },
  params: NewCourtParam,
  body: PutCourt,
  answers: { 200: Court.or(DryRun) },
  problems: ['in_use'],
  async handle({
    api,
    ctx,
    caller,
    params: { court: name },
    body: {
      dryRun,
      strategy: { admit, pick, decide, ...bounds },
      ...others
    },
  }) {
    const settings = { ...others, ...bounds, strategy: { admit, pick, decide } };
    checkCallback(api.ctx, 'callback', settings.callback);
    checkCallback(api.ctx, 'invitationCallback', settings.invitationCallback);
    if (dryRun) return ok(await courts.dryRun(ctx, name, settings));
    return ok(view(api, await courts.put(ctx, name, settings), caller));
  },
});

export const getCourtEndpoint = endpoint('getCourt', 'GET /v1/courts/{court}', {
  ...courtByName,
  summary: 'A court and its settings',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  answers: { 200: Court },
  handle: async ({ api, ctx, caller, params }) => ok(view(api, await courts.get(ctx, params.court), caller)),
});

export const deleteCourtEndpoint = endpoint('deleteCourt', 'DELETE /v1/courts/{court}', {
  ...courtByName,
  summary: 'Delete a court that has no open cases, with its jurors and its gold; its final cases stay',
  roles: [],
  answers: { 200: Deleted },
  problems: ['not_found', 'in_use'],
  async handle({ ctx, caller: { actor }, params: { court: name } }) {
    await courts.remove(ctx, name, actor);
    return ok({ deleted: true });
  },
});

export const listCourtsEndpoint = endpoint('listCourts', 'GET /v1/courts', {
  tag: 'Courts',
  summary: 'All courts, newest first',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  scope: { list: 'name' },
  query: Page,
  answers: { 200: pageOf(Court) },
  async handle({ api, ctx, caller, query: { limit, cursor } }) {
    const shown = (court: courts.Court) => view(api, court, caller);
    return listed(courts.list(ctx, cursor ?? null, limit + 1), limit, shown, (court) => court.seq);
  },
});
