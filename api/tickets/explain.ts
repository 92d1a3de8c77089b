import { QueueParam } from '../../contract/common.ts';
import { Explain, ExplainAnswer } from '../../contract/tickets.ts';
import type { Item } from '../../db/items.ts';
import { claimReasons, getQueue, itemsAhead } from '../../db/queues.ts';
import { stateWord } from '../../domain/items.ts';
import type { Api } from '../api.ts';
import { personOf } from '../auth.ts';
import { endpoint, ok } from '../endpoint.ts';
import { reasonsFor } from './claiming.ts';
import { findTicket } from './get.ts';

export const explain = endpoint({
  method: 'post',
  path: '/v1/queues/{queue}/explain',
  tag: 'Tickets',
  summary: 'Why did I get nothing? Would this ticket be mine, and what goes before it?',
  roles: ['producer', 'reviewer', 'agent'],
  params: QueueParam,
  body: Explain,
  answers: { 200: ExplainAnswer },
  problems: ['not_found'],
  async handle({ api, caller, params: { queue }, body: { reviewer, skills, ticket } }) {
    const person = personOf(caller, reviewer);
    if (ticket === undefined) {
      await api.services.queues.ensure('ticket', queue);
      const { reasons } = await reasonsFor(api, { queue, reviewer: person, skills });
      return ok({ reasons });
    }
    const item = await findTicket(api, ticket);
    const why = await obstacles(api, item, queue, person, skills);
    const ahead = item.state === 'ready' ? await itemsAhead(api.runtime.db, item, person, skills) : 0;
    return ok({ offered: why.length === 0, why, ahead });
  },
});

/** Everything that keeps this ticket from this person now. */
async function obstacles(api: Api, item: Item, queue: string, person: string, skills: string[]): Promise<string[]> {
  const settings = await getQueue(api.runtime.db, 'ticket', item.queue);
  const { max_held } = await claimReasons(api.runtime.db, 'ticket', item.queue, person, skills);
  const found: [boolean, string][] = [
    [item.queue !== queue, 'otherQueue'],
    [item.state === 'held' && item.holder === person, 'heldByYou'],
    [item.state !== 'ready' && item.holder !== person, stateWord('ticket', item.state)],
    [item.exclude.includes(person), 'excluded'],
    [item.skipped.includes(person), 'skipped'],
    [!item.requires.every((r) => skills.includes(r)), 'skills'],
    [settings?.paused ?? false, 'paused'],
    [max_held > 0, 'maxHeld'],
  ];
  return found.filter(([applies]) => applies).map(([, code]) => code);
}
