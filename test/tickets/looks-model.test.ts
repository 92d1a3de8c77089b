import { expect, test } from 'vitest';
import { dice, type Json, numbered, repeat } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api } = system;
const { addMany, claim, configure, decide, ticket } = api.tickets;

const QUEUES = ['lm-a', 'lm-b'];
const PEOPLE = numbered(6, 'person-');
const SKILLS = [[], ['x']];
const VERDICTS = ['keep', 'remove', 'warn'];

/** The hand-outs of looks, and those to who had decided before, by the log. */
const CLAIMED = `
  select count(*)::integer as handed, count(*) filter (where exists (
    select from item d join event e on e.kind = d.kind and e.item_id = d.id and e.type = 'decided'
     where d.kind = 'ticket' and l.look #>> '{of,id}' in (d.id, d.look #>> '{of,id}')
       and e.actor = c.actor and e.at < c.at))::integer as own
    from item l join event c on c.kind = l.kind and c.item_id = l.id and c.type = 'claimed'
   where l.look ? 'of'`;

test('B.2 whatever happens in between, nobody who decided is handed a look at it, and what stands is what the looks say', async () => {
  await configure('lm-a', { maxHeld: 3, second: { share: 0.3, queue: 'lm-a' } });
  await configure('lm-b', { maxHeld: 1 });
  const random = dice(20_260);
  const one = <T>(of: readonly T[]): T => of[random(of.length)] as T;
  const known = new Set<string>();
  const held = new Map<string, Json>();

  const took = (given: Json[]) => {
    // a repeat shows a next one that is held no more
    for (const each of given) if (each.lease?.token) held.set(each.lease.token, each);
  };
  const decideOne = async () => {
    const mine = one([...held.values()]);
    if (!mine) return;
    held.delete(mine.lease.token);
    const skills = one(SKILLS);
    const { status, body } = await decide(mine, one(VERDICTS), random(2) === 0 ? { next: true, skills } : {});
    if (status !== 200) return;
    known.add(body.ticket.of?.id ?? body.ticket.id);
    if (body.next) took([body.next]);
  };
  const giveUp = async () => {
    const mine = one([...held.values()]);
    if (!mine) return;
    held.delete(mine.lease.token);
    const { token } = mine.lease;
    if (random(2) === 0) await api.post(`/v1/tickets/${mine.id}/transfer`, { token, queue: one(QUEUES) });
    else await api.post(`/v1/tickets/${mine.id}/release`, { token, skip: random(4) === 0 });
  };
  const lookAtOne = async () => {
    const id = one([...known]);
    if (!id) return;
    const cause = one(['appeal', 'check', 'overturn']);
    const by = one(PEOPLE);
    const { status, body } = await api.post(`/v1/tickets/${id}/looks`, {
      ...{ cause, by },
      ...(cause === 'overturn' && { decision: one(VERDICTS) }),
    });
    if (status < 300 && cause !== 'overturn')
      await api.patch(`/v1/tickets/${body.id}`, { exclude: [], priority: random(5) });
  };
  const claimSome = async () => {
    const who = one(PEOPLE);
    took((await claim(one(QUEUES), who, { skills: one(SKILLS), count: 1 + random(2) })).tickets);
  };
  const steps = [claimSome, claimSome, claimSome, decideOne, decideOne, decideOne, giveUp, lookAtOne];
  const rounds = byNight(25_000, 75);
  for (let round = 0; round < rounds; round++) {
    if (round % 10 === 0)
      await addMany(
        one(QUEUES),
        numbered(5, `lm-${round}-`).map((id) => ({ id, requires: one(SKILLS) })),
      );
    // four at once, so that they meet
    await Promise.all(repeat(4, () => one(steps)()));
  }
  const [{ handed, own } = {}] = await system.sql(CLAIMED);
  expect(handed).toBeGreaterThan(rounds / 5);
  expect(own).toBe(0);
  expect(await testDoctor(system).broken()).toEqual([]);
  for (const id of [...known].slice(0, 500)) {
    const { looks, standing, decision } = await ticket(id);
    expect(looks.filter(({ outcome }: Json) => outcome === null).length).toBeLessThan(2);
    const last = looks.findLast(({ outcome }: Json) => outcome === 'overturned');
    expect(standing.ticket).toBe(last?.id ?? id);
    expect(standing.decision).toBe(last ? (await ticket(last.id)).decision : decision);
  }
}, 3_600_000);
