import { type CaseItem, getCase, type Refused } from '../../db/cases.ts';
import { refusalOf } from '../../domain/refusals.ts';
import { Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';

/** @throws Problem `not_found` */
export async function freshCase(api: Api, id: string): Promise<CaseItem> {
  const item = await getCase(api.runtime.db, id);
  if (!item) throw new Problem('not_found', `there is no case ${id}`);
  return item;
}

const DETAILS: Partial<Record<Refused, string>> = {
  already_voted: 'this person has voted on the case',
  conflict_of_interest: 'this person is a party of the case',
  forbidden: 'this juror is not eligible in this court any more',
};

/** The problem to answer with when a holder's call changed nothing. */
export async function refuse(api: Api, id: string, token: string, outcome: Refused): Promise<Problem> {
  switch (outcome) {
    case 'not_found':
      return new Problem('not_found', `there is no case ${id}`);
    case 'foreign':
      return new Problem('forbidden', 'this token was given to somebody else');
    case 'not_invited':
      return new Problem('invalid_request', 'token: is not of an invitation', {
        errors: [{ path: 'token', message: 'is not of an invitation; release gives a claimed case back' }],
      });
    case 'not_open':
    case 'lease_lost': {
      const [found] = await api.runtime.db.run('find_verdict', { kind: 'case', id, token });
      if (!found) return new Problem('not_found', `there is no case ${id}`);
      const { code, detail, ...fields } = refusalOf({ ...found, holder: found.named_holder });
      return new Problem(code, detail, fields);
    }
    default:
      return new Problem(outcome, DETAILS[outcome] ?? outcome);
  }
}
