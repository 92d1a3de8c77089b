import { expect, test } from 'vitest';
import { type Client, dice, type Json, numbered, repeat } from '../support/client.ts';
import { testDoctor } from '../support/doctor.ts';
import { byNight } from '../support/nightly.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem({}, { role: 'api' });
const { api, keyed, sql } = system;
const { add, addMany, claim, claimOne, configure, decide, ticket } = api.tickets;

const contextOf = async (client: Client, { id }: Json, query = '') =>
  (await client.get(`/v1/tickets/${id}/context${query}`)).body;

async function decided(queue: string, id: string, subject: string, decision: unknown, person = 'earlier') {
  await add(queue, { id, subject, body: id });
  const [held] = (await claim(queue, person)).tickets;
  expect(held.id).toBe(id);
  expect((await decide(held, decision)).status).toBe(200);
}

test('S4.9 the holder is told of the subject: counts and last decisions, without ids and names', async () => {
  await decided('ctx', 'c1', 'acct-1', 'keep');
  await decided('ctx', 'c2', 'acct-1', { verdict: 'remove', why: 'spam' });
  await decided('ctx-other', 'c3', 'acct-1', 'keep');
  await decided('ctx', 'c4', 'acct-2', 'keep');
  await add('ctx', { id: 'c5', subject: 'acct-1', body: 5 });
  await add('ctx', { id: 'c6', subject: 'acct-1', body: 6, delaySeconds: 600 });
  await add('ctx', { id: 'c7', body: 7 });
  const anna = await keyed('reviewer', 'anna');
  const bert = { name: 'bert', role: 'reviewer', subject: 'bert', queues: ['ctx'] };
  const bound = api.as((await api.post('/v1/keys', bert)).body.key);
  const [held] = (await anna.tickets.claim('ctx', 'anna')).tickets;
  const shown = await contextOf(anna, held);
  const last = ['keep', { verdict: 'remove', why: 'spam' }, 'keep'];
  expect(shown).toMatchObject({ open: 1, decided: 3, last: last.map((decision) => ({ decision })) });
  expect(shown.last.every(({ at }: Json) => Date.parse(at) <= Date.now() && at.endsWith('Z'))).toBe(true);
  expect(JSON.stringify(shown)).not.toMatch(/c[1-7]|earlier/);
  expect(await contextOf(api, held)).toEqual(shown);
  expect(await contextOf(api, held, '?reviewer=bert')).toMatchObject({ code: 'not_found' });
  expect(await contextOf(bound, held)).toMatchObject({ code: 'not_found' });
  expect(await contextOf(api, { id: 'c6' })).toMatchObject({ code: 'not_found' });
  await anna.tickets.withToken(held, 'release');
  expect(await contextOf(anna, held)).toMatchObject({ code: 'not_found' });
  const [next] = (await bound.tickets.claim('ctx', 'bert')).tickets;
  expect(next.id).toBe('c5');
  expect(await contextOf(bound, next)).toMatchObject({ open: 1, decided: 2 });
  const [alone] = (await anna.tickets.claim('ctx', 'anna')).tickets;
  expect(await contextOf(anna, alone)).toEqual({ open: 0, decided: 0, last: [] });
});

test('S4.9 B.2 a look is told nothing of its original and its looks, and a decider not that their decision was drawn', async () => {
  await configure('ctx-looks', { second: { share: 1 }, maxHeld: 9 });
  await decided('ctx-looks', 'l1', 's', 'keep', 'anna');
  await add('ctx-looks', { id: 'l2', subject: 's', body: 2, priority: 9 });
  const [mine] = (await claim('ctx-looks', 'anna')).tickets;
  expect(await contextOf(api, mine)).toMatchObject({ open: 0, decided: 1 });
  const [look] = (await claim('ctx-looks', 'bert')).tickets;
  expect(look.of).toMatchObject({ id: 'l1' });
  expect(await contextOf(api, look)).toMatchObject({ open: 1, decided: 0, last: [] });
  await decide(look, 'remove');
  await api.post('/v1/tickets/l1/looks', { cause: 'appeal', by: 'their author' });
  const [again] = (await claim('ctx-looks', 'cora')).tickets;
  expect(again.of).toMatchObject({ id: 'l1', cause: 'appeal' });
  expect(await contextOf(api, again)).toMatchObject({ open: 1, decided: 0 });
});

test('S4.9 B.1 a subject’s decisions are those that stand, each post once; what a look is open about is no precedent', async () => {
  await configure('ctx-stands', { second: { share: 0, blind: true }, maxHeld: 9 });
  await decided('ctx-stands', 's1', 'stands', 'remove', 'anna');
  const overturn = { cause: 'overturn', by: 'lead', decision: 'keep', reason: 'wrong' };
  expect((await api.post('/v1/tickets/s1/looks', overturn)).status).toBeLessThan(300);
  await decided('ctx-stands', 's2', 'stands', 'approve', 'anna');
  await add('ctx-stands', { id: 's3', subject: 'stands', priority: 9, body: 3 });
  const [held] = (await claim('ctx-stands', 'bert')).tickets;
  expect(await contextOf(api, held)).toMatchObject({
    open: 0,
    decided: 2,
    last: [{ decision: 'approve' }, { decision: 'keep' }],
  });
  await api.post('/v1/tickets/s2/looks', { cause: 'appeal', by: 'their author' });
  expect(await contextOf(api, held)).toMatchObject({ open: 0, decided: 2, last: [{ decision: 'keep' }] });
  await add('ctx-stands', { id: 's4', subject: 'stands', priority: 9, body: 4 });
  const [own] = (await claim('ctx-stands', 'anna')).tickets;
  expect((await contextOf(api, own)).last).toHaveLength(2);
});

test('B.2 where gold is, no figure of a reviewer counts the looks that their decisions were drawn for', async () => {
  const queue = 'ctx-drawn';
  const anna = await keyed('reviewer', 'gold-anna');
  await configure(queue, { second: { share: 1 }, gold: { share: 1 } });
  await api.put(`/v1/queues/${queue}/gold`, { tickets: [{ id: 'g', body: 1, answer: 'keep' }] });
  await add(queue, { body: 1 });
  const shown = async () => {
    const { waiting, held, decided: done } = (await anna.get(`/v1/queues/${queue}/stats`)).body;
    const { excluded } = (await anna.post(`/v1/queues/${queue}/explain`, {})).body.reasons;
    return { waiting, held, done, excluded };
  };
  const seen = [];
  for (const drawn of [0, 1]) {
    const [held] = (await anna.tickets.claim(queue, 'gold-anna')).tickets;
    const before = await shown();
    await anna.tickets.decide(held, 'keep');
    const after = await shown();
    seen.push({ held: after.held - before.held, waiting: after.waiting - before.waiting, excluded: after.excluded });
    expect(await sql('select from item where queue = $1 and look ? $2', [queue, 'drawn'])).toHaveLength(drawn);
  }
  expect(seen[1]).toEqual(seen[0]);
  expect((await api.get(`/v1/queues/${queue}/stats`)).body.waiting).toBe(1);
});

test('S0.3 a queue warns of a form that no decision fits', async () => {
  const within = (limits: object) => ({ type: 'object', properties: { fits: true, ...limits } });
  const warningsOf = async (form: object) => (await api.put('/v1/queues/ctx-limits', { form })).body.warnings;
  expect(
    await warningsOf(within({ n: { minimum: 3, maximum: 3 }, tags: { minItems: 1, items: { maxLength: 5 } } })),
  ).toBe(undefined);
  expect(
    await warningsOf(within({ n: { minimum: 10, maximum: 1 }, tags: { items: { minLength: 6, maxLength: 5 } } })),
  ).toEqual(["the form's n has minimum 10 above maximum 1", "the form's tags has minLength 6 above maxLength 5"]);
});

test('B.1 B.2 a queue warns of what a form leaves without a place: values to compare, known answers of gold', async () => {
  const verdict = (...all: string[]) => ({ type: 'object', properties: { verdict: { enum: all } } });
  const compared = (...compare: string[]) => ({ second: { compare } });
  const put = async (form: object, more: object = {}) => (await api.put('/v1/queues/ctx-form', { form, ...more })).body;
  expect(await put(verdict('keep', 'remove'), compared('/verdict', ''))).not.toHaveProperty('warnings');
  expect((await put(verdict('keep', 'remove'), compared('/verdit'))).warnings).toEqual([
    'second.compare names /verdit, which no decision has that fits the form',
  ]);
  const tickets = ['keep', 'remove'].map((answer) => ({ id: answer, body: 1, answer: { verdict: answer } }));
  expect((await api.put('/v1/queues/ctx-form/gold', { tickets })).status).toBeLessThan(300);
  expect((await put(verdict('keep', 'delete'), { dryRun: true })).warnings).toEqual([
    'the known answers of gold do not fit the form: remove',
  ]);
});

test('S4.9 a queue keeps highlighted words and guidelines, and warns of one that its form names and that is not there', async () => {
  const form = {
    oneOf: [
      { const: 'keep', title: 'Keep' },
      { const: 'hate', title: 'Hate', 'x-guideline': 'hate' },
    ],
  };
  const settings = { form, highlight: ['weapon', '武器'], guidelines: { hate: '**Never** quote it.' } };
  const { status, body } = await api.put('/v1/queues/ctx-guided', settings);
  expect([status, body.warnings]).toEqual([200, undefined]);
  expect((await api.get('/v1/queues/ctx-guided')).body).toMatchObject(settings);
  const bare = (await api.put('/v1/queues/ctx-guided', { form })).body;
  expect(bare).toMatchObject({ highlight: [], guidelines: {}, warnings: [expect.stringContaining('hate')] });
  const dry = await api.put('/v1/queues/ctx-guided', { form, dryRun: true });
  expect(dry.body.warnings).toEqual(bare.warnings);
  for (const wrong of [
    { highlight: [''] },
    { guidelines: { a: '' } },
    { highlight: 'x' },
    { guidelines: { '.': 'x' } },
  ])
    expect((await api.put('/v1/queues/ctx-guided', wrong)).body).toMatchObject({ code: 'invalid_request' });
});

const appeal = (id: string) => api.post(`/v1/tickets/${id}/looks`, { cause: 'appeal', by: 'author' });

test('B.2 whoever holds a blind look is not shown the first decision, nor who made it', async () => {
  await add('blind', { id: 'bl-1' });
  await decide(await claimOne('blind', 'anna'), 'secret');
  const ben = await keyed('reviewer', 'ben');
  const anna = await keyed('reviewer', 'anna');
  const agent = await keyed('agent');
  await appeal('bl-1');
  const { id } = (await ben.post('/v1/queues/blind/claim', {})).body.tickets[0];
  expect((await ben.get('/v1/tickets/bl-1')).status).toBe(404);
  const seen = (await agent.get('/v1/tickets/bl-1')).body;
  expect(seen).toMatchObject({ decision: null, decidedBy: null, decidedAt: null, standing: null, looks: [] });
  expect((await agent.get('/v1/tickets?queue=blind&state=decided')).body.items[0].decision).toBeNull();
  // to its decider there is no look, unless it overturns
  expect((await anna.get('/v1/tickets/bl-1')).body).toMatchObject({ decision: 'secret', looks: [] });
  expect((await anna.get(`/v1/tickets/${id}`)).status).toBe(404);
  await configure('blind', { second: { blind: false } });
  expect((await ben.get('/v1/tickets/bl-1')).body).toMatchObject({ decision: 'secret', decidedBy: 'anna' });
  await decide((await api.post('/v1/queues/blind/claim', { reviewer: 'ben' })).body.tickets[0], 'other');
  expect((await anna.get('/v1/tickets/bl-1')).body.looks).toMatchObject([{ id, outcome: 'overturned' }]);
});

test('B.2 S0.7 who was handed the original before is told no more at a blind look, and nobody who holds a ticket now', async () => {
  await configure('blind-again', {});
  const ben = await keyed('reviewer', 'ben');
  await add('blind-again', { id: 'ba-1' });
  const [first] = (await ben.tickets.claim('blind-again', 'ben')).tickets;
  await ben.tickets.withToken(first, 'release');
  const anna = await claimOne('blind-again', 'anna');
  expect((await ben.get('/v1/tickets/ba-1')).body).toMatchObject({ state: 'held', lease: null });
  await api.post('/v1/tickets/ba-1/notes', { text: 'clearly spam', reviewer: 'anna' });
  await decide(anna, 'secret');
  const late = () => ben.tickets.decide(first, 'other');
  expect((await late()).body).toMatchObject({ code: 'not_open', by: 'anna' });
  await appeal('ba-1');
  const [held] = (await ben.tickets.claim('blind-again', 'ben')).tickets;
  expect(held.of.id).toBe('ba-1');
  const answers = [await late(), await ben.get('/v1/tickets/ba-1/notes'), await ben.get('/v1/tickets/ba-1')];
  expect(answers.map(({ status }) => status)).toEqual([409, 200, 200]);
  expect(JSON.stringify(answers.map(({ body }) => body))).not.toMatch(/anna|secret|spam/);
});

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
