import { z } from '@hono/zod-openapi';
import { Deleted, Page, pageOf } from '../../contract/common.ts';
import * as contract from '../../contract/courts.ts';
import type { RowOf } from '../../db/pool.ts';
import { fleissKappa, krippendorffAlpha, type TallyCount } from '../../domain/agreement.ts';
import * as courts from '../../services/cases/courts.ts';
import * as gold from '../../services/cases/gold.ts';
import * as jurors from '../../services/cases/jurors.ts';
import { checkCallback } from '../../services/shared/checks.ts';
import { checkEntry } from '../../services/shared/service.ts';
import type { Api } from '../api.ts';
import { type Caller, personOf } from '../auth.ts';
import { shownCallback } from '../deliveries.ts';
import { deleted, endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { courtByName, listed, viewOf } from '../views.ts';

const fields = viewOf(contract.Court);
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
function appealOf({ fallback }: contract.CourtSettings): string | undefined {
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
  params: contract.NewCourtParam,
  body: contract.PutCourt,
  answers: { 200: contract.Court.or(contract.DryRun) },
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
  answers: { 200: contract.Court },
  handle: async ({ api, ctx, caller, params }) => ok(view(api, await courts.get(ctx, params.court), caller)),
});

export const deleteCourtEndpoint = endpoint('deleteCourt', 'DELETE /v1/courts/{court}', {
  ...courtByName,
  summary: 'Delete a court that has no open cases, with its jurors and its gold; its final cases stay',
  roles: [],
  answers: { 200: Deleted },
  problems: ['not_found', 'in_use'],
  handle: ({ ctx, caller: { actor }, params: { court: name } }) => deleted(courts.remove(ctx, name, actor)),
});

export const listCourtsEndpoint = endpoint('listCourts', 'GET /v1/courts', {
  tag: 'Courts',
  summary: 'All courts, newest first',
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  scope: { list: 'name' },
  query: Page,
  answers: { 200: pageOf(contract.Court) },
  async handle({ api, ctx, caller, query: { limit, cursor } }) {
    const shown = (court: courts.Court) => view(api, court, caller);
    return listed(courts.list(ctx, cursor ?? null, limit + 1), limit, shown, (court) => court.seq);
  },
});

const VOTES = 'votes ';

/** How the votes of ended cases are distributed: `votes {"buyer":9,"seller":2}` counts cases. */
const distributionOf = (counts: Record<string, number>): TallyCount[] =>
  Object.entries(counts)
    .filter(([what]) => what.startsWith(VOTES))
    .map(([what, cases]) => ({ tally: JSON.parse(what.slice(VOTES.length)) as TallyCount['tally'], cases }));

function statsView({ counts, gold, votes_last_hour, wasted_last_hour }: RowOf<'court_stats'>) {
  const real = (state: string) => (counts[state] ?? 0) - (gold[state] ?? 0);
  const decided = real('settled');
  const hung = real('expired');
  const distribution = distributionOf(counts);
  return {
    open: real('ready'),
    decided,
    hung,
    invalidated: real('invalidated'),
    completionRate: decided + hung === 0 ? null : decided / (decided + hung),
    meanSecondsToDecide: decided === 0 ? null : (counts.decide_ms ?? 0) / decided / 1000,
    votes: counts.votes ?? 0,
    votesLastHour: votes_last_hour,
    wasted: counts.wasted ?? 0,
    wastedLastHour: wasted_last_hour,
    windowHits: counts.window_hits ?? 0,
    kappa: fleissKappa(distribution),
    alpha: krippendorffAlpha(distribution),
  };
}

export const courtStatsEndpoint = endpoint('getCourtStats', 'GET /v1/courts/{court}/stats', {
  ...courtByName,
  summary: 'Figures of a court, exact as of the answer, without gold',
  roles: ['producer', 'agent', 'supervisor'],
  answers: { 200: contract.CourtStats },
  handle: async ({ ctx, params: { court } }) => ok(statsView(await courts.stats(ctx, court))),
});

export const putJurorsEndpoint = endpoint('putJurors', 'PUT /v1/courts/{court}/jurors', {
  ...courtByName,
  summary: "Jurors, added or changed; with `list`, chunks of a list that replaces the court's at its `final` one",
  roles: ['producer'],
  body: contract.PutJurors,
  bodyLimit: LARGE_BODY,
  answers: { 200: contract.JurorsTotal },
  async handle({ ctx, params: { court }, body: { jurors: sent, list: name, first, final } }) {
    const chunk = name === undefined ? undefined : { name, first, final };
    return ok({ total: await jurors.put(ctx, court, sent, chunk) });
  },
});

export const getJurorEndpoint = endpoint('getJuror', 'GET /v1/courts/{court}/jurors/{juror}', {
  ...courtByName,
  summary: "How many cases and votes the court's limits leave a juror, other accounts of the person included",
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  params: contract.CourtJurorParam,
  answers: { 200: contract.CourtJuror },
  async handle({ ctx, caller, params: { court: name, juror: named } }) {
    const juror = personOf(caller, named, 'juror');
    const { court, eligible, shown, frees_at, votes, day_ends_at } = await jurors.limits(ctx, name, juror);
    const { window_cases: cases, votes_per_day: limit } = court;
    const left = (most: number, used: number) => Math.max(0, most - used);
    const freesAt = frees_at?.toISOString() ?? null;
    return ok({
      ...{ id: juror, eligible },
      window: cases === null ? null : { cases, shown, left: left(cases, shown), freesAt },
      day: limit === null ? null : { votes, limit, left: left(limit, votes), endsAt: day_ends_at.toISOString() },
    });
  },
});

export const putGoldEndpoint = endpoint('putGoldCases', 'PUT /v1/courts/{court}/gold', {
  ...courtByName,
  summary: 'Replace the cases with known answers, hidden among the others and never in statistics',
  roles: [],
  body: contract.PutGold,
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
