import { CourtParam, JurorsTotal, PutJurors } from '../../contract/courts.ts';
import { endpoint, LARGE_BODY, ok } from '../endpoint.ts';

export const putJurorsEndpoint = endpoint({
  method: 'put',
  path: '/v1/courts/{court}/jurors',
  tag: 'Courts',
  summary: "Jurors, added or changed; with `list`, chunks of a list that replaces the court's at its `final` one",
  roles: ['producer'],
  params: CourtParam,
  body: PutJurors,
  bodyLimit: LARGE_BODY,
  answers: { 200: JurorsTotal },
  problems: ['not_found'],
  async handle({ api, params: { court }, body: { jurors, list: name, first, final } }) {
    const chunk = name === undefined ? undefined : { name, first, final };
    return ok({ total: await api.services.jurors.put(court, jurors, chunk) });
  },
});
