import { Page, pageOf } from '../../contract/common.ts';
import { Court, CourtParam, type CourtSettings, DryRun, PutCourt } from '../../contract/courts.ts';
import * as courts from '../../services/cases/courts.ts';
import type { Api } from '../api.ts';
import type { Caller } from '../auth.ts';
import { checkUrl, shownCallback } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';
import { courtByName } from '../resources.ts';

function view(api: Api, c: courts.Court, caller: Caller) {
  const { window_cases: cases, window_seconds: seconds, assign_jurors: jurors, answer_seconds: answerSeconds } = c;
  return {
    name: c.name,
    options: c.options,
    votesToWin: c.votes_to_win,
    panel: c.panel,
    leaseSeconds: c.lease_seconds,
    overbook: c.overbook,
    window: cases === null || seconds === null ? null : { cases, seconds },
    votesPerDay: c.votes_per_day,
    deadlineSeconds: c.deadline_seconds,
    mode: c.mode,
    assign:
      jurors === null || answerSeconds === null ? null : { jurors, answerSeconds, perJurorPerDay: c.invites_per_day },
    lateVotes: c.record_late ? ('record' as const) : ('refuse' as const),
    strategy: { admit: c.admit, pick: c.pick, decide: c.decide },
    quality: c.quality,
    goldShare: c.gold_share,
    fallback: c.fallback,
    callback: shownCallback(api, c.callback, caller),
    invitationCallback: shownCallback(api, c.invitation_callback, caller),
    createdAt: c.created_at.toISOString(),
    updatedAt: c.updated_at.toISOString(),
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
  summary: 'Replace all settings; acts at once, also on open cases; dryRun: which of them it would decide',
  roles: [],
  scope: { queue: ({ params, body }) => [params.court, appealOf(body)] },
  params: CourtParam,
  body: PutCourt,
  answers: { 200: Court.or(DryRun) },
  async handle({ api, ctx, caller, params: { court: name }, body: { dryRun, ...settings } }) {
    checkUrl(api, 'callback.url', settings.callback?.url);
    checkUrl(api, 'invitationCallback.url', settings.invitationCallback?.url);
    if (dryRun) return ok({ wouldDecide: await courts.wouldDecide(ctx, name, settings) });
    return ok(view(api, await courts.put(ctx, name, settings), caller));
  },
});

export const getCourtEndpoint = endpoint('getCourt', 'GET /v1/courts/{court}', {
  ...courtByName,
  summary: 'A court and its settings',
  roles: ['producer', 'reviewer', 'agent'],
  answers: { 200: Court },
  problems: ['not_found'],
  handle: async ({ api, ctx, caller, params }) => ok(view(api, await courts.get(ctx, params.court), caller)),
});

export const listCourtsEndpoint = endpoint('listCourts', 'GET /v1/courts', {
  tag: 'Courts',
  summary: 'All courts, newest first',
  roles: ['producer', 'reviewer', 'agent'],
  scope: { list: 'name' },
  query: Page,
  answers: { 200: pageOf(Court) },
  async handle({ api, ctx, caller, query: { limit, cursor } }) {
    const rows = await courts.list(ctx, cursor ?? null, limit + 1);
    const shown = (court: courts.Court) => view(api, court, caller);
    return ok(page(rows, limit, shown, (court) => court.seq));
  },
});
