import { expect, test } from 'vitest';
import { dice, type Json, numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem();
const { addMany, claim, configure, decide, withToken } = api.tickets;

const HANDED = byNight(100_000, 300);
const QUEUES = ['own-a', 'own-b'];
const PEOPLE = numbered(8, 'own-p');
/** Each person has two names. */
const NAMES = PEOPLE.flatMap((person) => [person, `${person}:2`]);

/** Hand-outs of looks to somebody who has decided before what they are about, under whichever name, and all of them. */
const HAND_OUTS = `
  with handed as (
    select i.look -> 'of' ->> 'id' as id, split_part(e.actor, ':', 1) as person, e.at
      from event e join item i on i.kind = e.kind and i.id = e.item_id and i.look ? 'of'
     where e.kind = 'ticket' and e.type = 'claimed'
  ), decided as (
    select coalesce(look -> 'of' ->> 'id', id) as id, split_part(ended_by, ':', 1) as person, ended_at
      from item where kind = 'ticket' and state = 'settled')
  select count(*)::integer as "all", count(*) filter (where exists (
           select from decided d where d.id = h.id and d.person = h.person and d.ended_at <= h.at))::integer as own
    from handed h`;

test('B.2 nobody is handed a look at what they decided, under any name, however calls interleave', async () => {
  for (const queue of QUEUES) await configure(queue, { maxHeld: 3, second: { share: 1 } });
  for (const name of NAMES) await api.put(`/v1/reviewers/${name}`, { person: name.split(':')[0] });
  const met = { added: 0, handed: 0 };
  const known: string[] = [];
  const fill = async (queue: string) => {
    const ids = numbered(6, `own-${met.added++}-`);
    known.push(...ids);
    await addMany(
      queue,
      ids.map((id, n) => ({ id, ...(n % 3 === 0 && { requires: ['law'] }) })),
    );
  };
  const acts: Record<string, (held: Json, name: string, next: boolean) => Promise<unknown>> = {
    decide: (held, _, next) => decide(held, ['keep', 'remove'][met.handed % 2], next ? { next: true } : {}),
    release: (held) => withToken(held, 'release'),
    skip: (held) => withToken(held, 'release', { skip: true, reason: 'r' }),
    transfer: (held) => withToken(held, 'transfer', { queue: QUEUES[met.handed % 2] }),
    appeal: (held) =>
      api.post(`/v1/tickets/${known[met.handed % known.length]}/looks`, { cause: 'appeal', by: held.id }),
    overturn: (_, name) =>
      api.post(`/v1/tickets/${known[met.handed % known.length]}/looks`, {
        cause: 'overturn',
        by: name,
        decision: 'no',
      }),
    expire: ({ id }) => sql('update item set expires_at = now(), wake_at = now() where id = $1', [id]),
  };
  const often = ['decide', 'decide', 'decide', 'decide', ...Object.keys(acts)];
  await Promise.all(
    repeat(16, async (n) => {
      const roll = dice(100 + n);
      const pick = <T>(from: readonly T[]) => from[roll(from.length)] as T;
      while (met.handed < HANDED) {
        const [name, queue] = [pick(NAMES), pick(QUEUES)];
        const { tickets } = await claim(queue, name, { count: 3, ...(roll(2) && { skills: ['law'] }) });
        if (tickets.length === 0) await fill(queue);
        for (const held of tickets) {
          if (held.of && !held.resumed) met.handed++;
          await acts[pick(often)]?.(held, name, roll(2) === 1).catch(() => {});
        }
      }
    }),
  );
  const [found] = await sql(HAND_OUTS);
  expect(found?.all).toBeGreaterThanOrEqual(HANDED);
  expect(found?.own).toBe(0);
}, 5_400_000);
