import { IdParam } from '../../contract/common.ts';
import { Decide, DecideAnswer } from '../../contract/tickets.ts';
import type { Item, Verdict } from '../../db/items.ts';
import { getQueue } from '../../db/queues.ts';
import { ticketView } from '../../domain/tickets.ts';
import { contentHash } from '../../services/tokens.ts';
import type { Api } from '../api.ts';
import { boundTo } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { claimNext } from './claiming.ts';
import { checkDecision, checkStatus } from './forms.ts';
import { lookInto, refuse } from './refusing.ts';

export const decideTicket = endpoint({
  method: 'post',
  path: '/v1/tickets/{id}/decide',
  tag: 'Tickets',
  summary: 'Decide a ticket that I hold, and get the next one',
  roles: ['reviewer', 'agent'],
  params: IdParam,
  body: Decide,
  answers: { 200: DecideAnswer },
  problems: ['not_found', 'not_open', 'lease_lost'],
  async handle({ api, caller, params: { id }, body }) {
    const { token, decision } = body;
    const hash = contentHash(decision);
    const settlement = {
      id,
      token,
      result: JSON.stringify(decision),
      hash,
      subject: boundTo(caller),
      nextWanted: body.next,
    };
    let formVersion: number | null = null;
    for (let tries = 0; ; tries++) {
      const item = await api.services.items.settle({ kind: 'ticket', settlement: { ...settlement, formVersion } });
      if (item?.ended_by) {
        const next = body.next ? await claimNext(api, item.queue, item.ended_by, body.skills, token) : null;
        return ok({ ticket: ticketView(item), next });
      }
      const found = await lookInto(api, id, token, settlement.subject);
      if (isRepeat(found, token, hash)) return ok(await firstAnswer(api, found, token, body.skills));
      // live and mine, so only the queue's form is in the way; it may change while it is checked
      const live = found.state === 'held' && found.lease_id === token;
      if (!live || tries > 4) throw await refuse(api, found, token, 'decide');
      formVersion = await fitForm(api, found, decision);
    }
  },
});

const isRepeat = (item: Verdict, token: string, hash: string) =>
  item.settled_token === token &&
  item.result_hash !== null &&
  Buffer.compare(item.result_hash, Buffer.from(hash, 'hex')) === 0;

/** The same answer as the first time, the next ticket included; also when the first is still under way. */
async function firstAnswer(api: Api, item: Item, token: string, skills: string[]) {
  const next =
    item.next_wanted && item.ended_by ? await claimNext(api, item.queue, item.ended_by, skills, token) : null;
  return { ticket: ticketView(item), next };
}

/** @returns the version of the settings whose form the decision fits; null without a form */
async function fitForm(api: Api, item: Item, decision: unknown): Promise<number | null> {
  checkStatus(item, decision);
  const queue = await getQueue(api.runtime.db, 'ticket', item.queue);
  if (!queue?.form) return null;
  await checkDecision(api, queue, decision);
  return queue.settings_version;
}
