import type { Verdict } from '../../db/items.ts';
import { tickItem } from '../../db/runtime.ts';
import { refusalOf } from '../../domain/refusals.ts';
import { Problem } from '../../services/problems.ts';
import type { Api } from '../api.ts';

/**
 * Looks into a transition that changed nothing.
 * @param token the lease that was named; null: none was needed
 * @throws Problem `not_found` for an unknown ticket, `forbidden` for another's token
 */
export async function lookInto(api: Api, id: string, token: string | null, subject: string | null): Promise<Verdict> {
  const { db } = api.runtime;
  const find = () => db.run('find_verdict', { kind: 'ticket', id, token });
  let [found] = await find();
  if (found?.overdue) {
    // its lease has run out and no clock has come by yet: do it now, so that the answer can say so
    await tickItem(db, 'ticket', id);
    [found] = await find();
  }
  if (!found) throw new Problem('not_found', `there is no ticket ${id}`);
  if (subject !== null && found.named_holder !== null && found.named_holder !== subject)
    throw new Problem('forbidden', 'this token was given to somebody else');
  return found;
}

/** The problem to answer with. A late answer of a former holder also gets a line in the ticket's log, once (S0.7). */
export async function refuse(api: Api, found: Verdict, token: string | null, attempt: string): Promise<Problem> {
  const { code, detail, ...fields } = refusalOf(found);
  if (token !== null) {
    const { db } = api.runtime;
    const ticket = { kind: 'ticket', id: found.id };
    const [late] = await db.run('refuse_lease', { ...ticket, token });
    if (late && late.why !== 'settled')
      await db.move('note_item', {
        ...ticket,
        type: 'refused',
        actor: late.holder,
        data: { attempt, reason: late.why },
      });
  }
  return new Problem(code, detail, fields);
}
