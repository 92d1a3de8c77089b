import { api, data, get, type Schemas } from '../../api/client.ts';
import type { Problem } from '../../api/problem.ts';
import { causeOf as causeAtDesk } from '../desk/calls.ts';

export type CaseCalls = ReturnType<typeof callsOf>;
export type Case = Schemas['Case'];

/** What a juror's desk asks of the API. */
export function callsOf(court: string, juror: string) {
  const at = (id: string) => ({ path: { id } });
  return {
    juror,
    claim: (signal: AbortSignal) =>
      data(api.POST('/v1/courts/{court}/claim', { params: { path: { court } }, body: { juror }, signal })),
    vote: (id: string, token: string, option: string, comment: string) =>
      data(api.POST('/v1/cases/{id}/votes', { params: at(id), body: { token, option, ...(comment && { comment }) } })),
    get: (id: string) => get('/v1/cases/{id}', at(id)),
    renew: (id: string, token: string) => data(api.POST('/v1/cases/{id}/renew', { params: at(id), body: { token } })),
    skip: (id: string, token: string) =>
      data(api.POST('/v1/cases/{id}/release', { params: at(id), body: { token, skip: true } })),
    decline,
    isInvited: async (token: string) => (await invitationsOf(juror)).some((one) => one.token === token),
  };
}

export const decline = (id: string, token: string) =>
  data(api.POST('/v1/cases/{id}/decline', { params: { path: { id } }, body: { token } }));

/** A juror's open invitations. There is one a court at most, so one page has those of any sensible number of courts. */
export const invitationsOf = async (juror: string, signal?: AbortSignal) =>
  (await get('/v1/jurors/{juror}/invitations', { path: { juror }, query: { limit: 500 } }, signal)).items;

/** Codes of what ends a juror's hold of a case for good, beside the end of the case and of the lease. */
const ENDING = ['already_voted', 'conflict_of_interest', 'forbidden', 'not_found'];

/** Why the case is not the juror's any more, if that is what a problem says; null: it may still be. */
export const causeOf = (problem: Problem): string | null =>
  ENDING.includes(problem.code) ? problem.code : (causeAtDesk(problem)?.reason ?? null);
