import { setTimeout as sleep } from 'node:timers/promises';
import { Page, pageOf } from '../../contract/common.ts';
import { Court, CourtParam, type CourtSettings, DryRun, PutCourt } from '../../contract/courts.ts';
import type { Callback } from '../../contract/items.ts';
import { getCourt, listCourts, putCourt, type Court as Row } from '../../db/courts.ts';
import { freeAnyJuror } from '../../db/invitations.ts';
import { ADMITS, barOf, DECIDES, orderOf, PICKS, type Rules } from '../../domain/courts.ts';
import { decidable, refreshCourt } from '../../services/courts.ts';
import { invalid, Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';
import { checkUrl } from '../deliveries.ts';
import { endpoint, ok } from '../endpoint.ts';
import { page } from '../paging.ts';

const ANSWER_MS = 1_000;

/** @throws Problem `not_found` */
export async function findCourt(api: Api, name: string): Promise<Row> {
  const court = await getCourt(api.runtime.db, name);
  if (!court) throw new Problem('not_found', `there is no court ${name}`);
  return court;
}

const shown = (callback: Callback | null, mayReadSecrets: boolean) =>
  callback && !mayReadSecrets ? { ...callback, secret: 'whsec_hidden' } : callback;

function view(c: Row, mayReadSecrets: boolean) {
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
    callback: shown(c.callback, mayReadSecrets),
    invitationCallback: shown(c.invitation_callback, mayReadSecrets),
    createdAt: c.created_at.toISOString(),
    updatedAt: c.updated_at.toISOString(),
  };
}

/** Settings as the row that they become; the last ones are what its strategies say of themselves. */
function rowOf(s: CourtSettings) {
  const rules: Rules = { votesToWin: s.votesToWin, panel: s.panel, quality: s.quality };
  const bar = barOf(s.strategy.admit, rules);
  return {
    options: s.options,
    votes_to_win: s.votesToWin,
    panel: s.panel,
    overbook: s.overbook,
    window_cases: s.window?.cases ?? null,
    window_seconds: s.window?.seconds ?? null,
    votes_per_day: s.votesPerDay,
    mode: s.mode,
    assign_jurors: s.assign?.jurors ?? null,
    answer_seconds: s.assign?.answerSeconds ?? null,
    invites_per_day: s.assign?.perJurorPerDay ?? null,
    record_late: s.lateVotes === 'record',
    quality: s.quality,
    fallback: s.fallback,
    gold_share: s.goldShare,
    ...s.strategy,
    around: orderOf(s.strategy.pick).around,
    bar_agreement: bar.agreement,
    bar_after: bar.after,
    bar_newcomers: bar.newcomers,
    invitation_callback: s.invitationCallback,
  };
}

/** @throws Problem 422 for what the schema can't see */
function checkSettings(api: Api, name: string, s: CourtSettings): void {
  const known = { admit: ADMITS, pick: PICKS, decide: DECIDES };
  for (const [what, names] of Object.entries(known)) {
    const chosen = s.strategy[what as keyof typeof known];
    if (!names.includes(chosen)) throw invalid(`strategy.${what}`, `must be one of ${names.join(', ')}`);
  }
  if (s.panel !== null && s.panel < s.votesToWin) throw invalid('panel', 'must be at least votesToWin');
  if (s.mode !== 'claim' && s.assign === null) throw invalid('assign', `is required with mode ${s.mode}`);
  if (s.fallback && 'court' in s.fallback && s.fallback.court === name)
    throw invalid('fallback.court', 'must be another court');
  checkUrl(api, 'callback.url', s.callback?.url);
  checkUrl(api, 'invitationCallback.url', s.invitationCallback?.url);
}

/**
 * Applies new settings to the open cases. After a second the rest of it goes on beside the answer: a vote goes by the
 * new settings in any case, and maintenance ends what this process cannot.
 */
async function applySettings({ runtime }: Api, name: string): Promise<void> {
  const applied = refreshCourt(runtime.db, name).then(() => runtime.rearm());
  const answered = new AbortController();
  await Promise.race([applied, sleep(ANSWER_MS, undefined, { signal: answered.signal })]).finally(() =>
    answered.abort(),
  );
  applied.catch((error: Error) =>
    runtime.log.warn({ court: name, err: error.message }, 'settings are not applied to all cases yet'),
  );
}

export const putCourtEndpoint = endpoint({
  method: 'put',
  path: '/v1/courts/{court}',
  tag: 'Courts',
  summary: 'Replace all settings; acts at once, also on open cases; dryRun: which of them it would decide',
  roles: [],
  params: CourtParam,
  body: PutCourt,
  answers: { 200: Court.or(DryRun) },
  async handle({ api, params: { court: name }, body: { dryRun, ...settings } }) {
    checkSettings(api, name, settings);
    const { db } = api.runtime;
    const row = rowOf(settings);
    if (dryRun) return ok({ wouldDecide: await decidable(db, name, row) });
    const queue = {
      lease_seconds: settings.leaseSeconds,
      deadline_seconds: settings.deadlineSeconds,
      callback: settings.callback,
    };
    const court = await db.transaction(async (tx) => {
      const put = await putCourt(tx, name, queue, row);
      // a higher cap, another threshold, a longer window: any juror may be free by it
      await freeAnyJuror(tx, name);
      return put;
    });
    api.services.invitations.look();
    if (court.refresh_pending) await applySettings(api, name);
    return ok(view(court, true));
  },
});

export const getCourtEndpoint = endpoint({
  method: 'get',
  path: '/v1/courts/{court}',
  tag: 'Courts',
  summary: 'A court and its settings',
  roles: ['producer', 'reviewer', 'agent'],
  params: CourtParam,
  answers: { 200: Court },
  problems: ['not_found'],
  handle: async ({ api, caller, params }) => ok(view(await findCourt(api, params.court), caller.role === 'admin')),
});

export const listCourtsEndpoint = endpoint({
  method: 'get',
  path: '/v1/courts',
  tag: 'Courts',
  summary: 'All courts, newest first',
  roles: ['producer', 'reviewer', 'agent'],
  query: Page,
  answers: { 200: pageOf(Court) },
  async handle({ api, caller, query: { limit, cursor } }) {
    const rows = await listCourts(api.runtime.db.lists, cursor ?? null, limit + 1);
    return ok(
      page(
        rows,
        limit,
        (c) => view(c, caller.role === 'admin'),
        (c) => c.seq,
      ),
    );
  },
});
