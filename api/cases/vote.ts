import { CastVote, CastVoteAnswer } from '../../contract/cases.ts';
import { IdParam } from '../../contract/common.ts';
import { caseToJudge, castVote } from '../../db/cases.ts';
import { verdictOf } from '../../services/courts.ts';
import { invalid, Problem } from '../../services/problems.ts';
import { boundTo } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { freshCase, refuse } from './refusing.ts';
import { viewForJuror } from './view.ts';

const MAX_TRIES = 100;

export const castVoteEndpoint = endpoint({
  method: 'post',
  path: '/v1/cases/{id}/votes',
  tag: 'Cases',
  summary: 'Vote on a case that I hold; the deciding vote decides at once',
  roles: ['reviewer', 'agent'],
  params: IdParam,
  body: CastVote,
  answers: { 200: CastVoteAnswer },
  problems: ['not_found', 'not_open', 'lease_lost', 'already_voted', 'conflict_of_interest'],
  async handle({ api, caller, params: { id }, body: { token, option, comment = null } }) {
    const { db } = api.runtime;
    const subject = boundTo(caller);
    // judged before it is cast, and cast only if nothing has changed meanwhile: the strategies stay in one place
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await caseToJudge(db, id);
      if (!found) throw new Problem('not_found', `there is no case ${id}`);
      if (!found.options.includes(option)) throw invalid('option', `must be one of ${found.options.join(', ')}`);
      const tally = {
        ...found.tally,
        [option]: (Object.hasOwn(found.tally, option) ? (found.tally[option] ?? 0) : 0) + 1,
      };
      const verdict = verdictOf(found, tally, found.stage);
      const { votes, settings_version: settingsVersion } = found;
      const cast = await castVote(db, { id, token, option, comment, subject, votes, settingsVersion, verdict });
      if (cast.outcome === 'again') continue;
      const item = await freshCase(api, id);
      if (cast.outcome !== 'counted' && cast.outcome !== 'late' && cast.outcome !== 'repeated')
        throw await refuse(api, id, token, cast.outcome);
      return ok({ counted: cast.counted, case: await viewForJuror(api, caller, item, { token }) });
    }
    throw new Problem('unavailable', 'too many votes on this case at once, try again');
  },
});
