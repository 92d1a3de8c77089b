import { CourtJuror, CourtJurorParam, JurorsTotal, PutJurors } from '../../contract/courts.ts';
import * as jurors from '../../services/cases/jurors.ts';
import { personOf } from '../auth.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';
import { courtByName } from '../resources.ts';

export const putJurorsEndpoint = endpoint('putJurors', 'PUT /v1/courts/{court}/jurors', {
  ...courtByName,
  summary: "Jurors, added or changed; with `list`, chunks of a list that replaces the court's at its `final` one",
  roles: ['producer'],
  body: PutJurors,
  bodyLimit: LARGE_BODY,
  answers: { 200: JurorsTotal },
  async handle({ ctx, params: { court }, body: { jurors: sent, list: name, first, final } }) {
    const chunk = name === undefined ? undefined : { name, first, final };
    return ok({ total: await jurors.put(ctx, court, sent, chunk) });
  },
});

export const getJurorEndpoint = endpoint('getJuror', 'GET /v1/courts/{court}/jurors/{juror}', {
  ...courtByName,
  summary: "How many cases and votes the court's limits leave a juror, other accounts of the person included",
  roles: ['producer', 'reviewer', 'agent', 'supervisor'],
  params: CourtJurorParam,
  answers: { 200: CourtJuror },
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
