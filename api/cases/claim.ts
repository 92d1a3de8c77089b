import { ClaimCase, ClaimCaseAnswer } from '../../contract/cases.ts';
import { CourtParam } from '../../contract/courts.ts';
import { type Claimed, caseReasons, claimCase, getCase } from '../../db/cases.ts';
import { whileBusy } from '../../services/retry.ts';
import { newToken } from '../../services/tokens.ts';
import type { Api } from '../api.ts';
import { personOf } from '../auth.ts';
import { findCourt } from '../courts/settings.ts';
import { endpoint, ok } from '../endpoint.ts';
import { viewForJuror } from './view.ts';

const PATIENCE = { tries: 50, stepMs: 4, mostMs: 40 };

export const claimCaseEndpoint = endpoint({
  method: 'post',
  path: '/v1/courts/{court}/claim',
  tag: 'Cases',
  summary: 'Hand me a case to judge; one that I hold comes first',
  roles: ['reviewer', 'agent'],
  params: CourtParam,
  body: ClaimCase,
  answers: { 200: ClaimCaseAnswer },
  problems: ['not_found'],
  async handle({ api, caller, params, body, signal }) {
    const juror = personOf(caller, body.juror, 'juror');
    const { name } = await findCourt(api, params.court);
    const claimed = await claimFor(api, name, juror);
    if (claimed.id === null)
      return ok({ case: null, lease: null, resumed: false, reasons: await reasonsFor(api, name, juror, claimed) });
    const item = await getCase(api.runtime.db, claimed.id);
    if (!item) throw new Error(`case ${claimed.id} is gone`);
    if (claimed.outcome === 'held') {
      api.metrics.handedOut(name, 1);
      if (signal.aborted)
        await api.services.cases.leave({ id: item.id, token: claimed.token, subject: null, how: 'released' });
    }
    const lease = { token: claimed.token, expiresAt: claimed.expires_at.toISOString() };
    return ok({
      case: await viewForJuror(api, caller, item, { juror }),
      lease,
      resumed: claimed.outcome === 'resumed',
      reasons: null,
    });
  },
});

/** All candidates are locked by other claims: retries shortly; waiting could deadlock. */
function claimFor(api: Api, court: string, juror: string): Promise<Claimed> {
  const { db } = api.runtime;
  const token = newToken();
  return whileBusy(
    () => claimCase(db, court, juror, token),
    (claimed) => claimed.outcome === 'busy',
    PATIENCE,
  );
}

/** What stands in the way, in numbers of open cases; a bar of the juror himself stands in the way of all of them. */
async function reasonsFor(api: Api, court: string, juror: string, { outcome }: Claimed) {
  const found = await caseReasons(api.runtime.db, court, juror);
  const all = (why: Claimed['outcome']) => (outcome === why ? Math.max(1, found.open) : 0);
  const reasons = {
    noVotesLeft: found.no_votes_left,
    voted: found.voted,
    party: found.party,
    skipped: found.skipped,
    windowFull: all('windowFull'),
    notEligible: all('notEligible'),
    fatigue: all('fatigue'),
  };
  // also where the court hands out nothing to those who ask, but invites
  const unexplained = Object.values(reasons).every((n) => n === 0);
  return { ...reasons, none: found.open === 0 || unexplained ? 1 : 0 };
}
