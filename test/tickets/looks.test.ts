import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Json, numbered, repeat } from '../support/client.ts';
import { erased } from '../support/erasures.ts';
import { eventually } from '../support/eventually.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';

const { api, cell, keyed, sql } = await startTestSystem();
const { add, addMany, claim, claimOne, configure, decide, decided, events, ticket } = api.tickets;

const look = (id: string, more: object, by = api) => by.post(`/v1/tickets/${id}/looks`, more);
const appeal = async (id: string, more: object = {}) =>
  (await look(id, { cause: 'appeal', by: 'author', ...more })).body;
const open = (queue: string, id: string, decision: unknown, settings: object = {}) =>
  configure(queue, settings)
    .then(() => add(queue, { id }))
    .then(() => claimOne(queue, 'anna'))
    .then((held) => decide(held, decision));
const types = async (id: string) => (await events(id)).map(({ type }) => type);

test('B.2 an appeal is a ticket that its first decider is never handed, and its end says what stands', async () => {
  const original = { id: 'ap-1', body: { text: 'x' }, subject: 's', priority: 7, exclude: ['boss'], requires: ['de'] };
  await add('appeals', original);
  const { tickets } = await claim('appeals', 'anna', { skills: ['de'] });
  await decide(tickets[0], { verdict: 'remove' });
  expect(await ticket('ap-1')).toMatchObject({
    ...{ of: null, looks: [] },
    standing: { decision: { verdict: 'remove' }, by: 'anna', ticket: 'ap-1' },
  });
  const answer = await look('ap-1', { cause: 'appeal', by: 'author', reason: 'a joke', priority: 9 });
  expect(answer.status).toBe(201);
  const { id } = answer.body;
  const { id: _, priority: __, ...copied } = original;
  expect(answer.body).toMatchObject({ ...copied, of: { id: 'ap-1', cause: 'appeal' }, priority: 9, standing: null });
  expect(answer.body.exclude).toEqual(['boss']);
  const repeated = await look('ap-1', { cause: 'appeal', by: 'author', reason: 'a joke', priority: 9 });
  expect([repeated.status, repeated.body.id]).toEqual([200, id]);
  expect((await ticket('ap-1')).looks).toEqual([{ id, causes: ['appeal'], state: 'waiting', outcome: null }]);

  expect((await claim('appeals', 'anna', { skills: ['de'] })).tickets).toEqual([]);
  // no change of its exclusions lifts it
  await api.patch(`/v1/tickets/${id}`, { exclude: [] });
  expect((await claim('appeals', 'anna', { skills: ['de'] })).tickets).toEqual([]);
  await configure('elsewhere', {});
  await api.post(`/v1/tickets/${id}/transfer`, { queue: 'elsewhere' });
  expect((await claim('elsewhere', 'anna', { skills: ['de'] })).tickets).toEqual([]);
  const held = (await claim('elsewhere', 'ben', { skills: ['de'] })).tickets[0];
  expect(held.id).toBe(id);
  expect((await ticket('ap-1')).looks[0].state).toBe('held');
  await decide(held, { verdict: 'keep' });
  expect(await ticket('ap-1')).toMatchObject({
    ...{ state: 'decided', decision: { verdict: 'remove' }, decidedBy: 'anna' },
    looks: [{ id, causes: ['appeal'], state: 'decided', outcome: 'overturned' }],
    standing: { decision: { verdict: 'keep' }, by: 'ben', ticket: id },
  });
  expect(await types('ap-1')).toEqual(['created', 'claimed', 'decided', 'overturned']);
  // a look at a look is one at what that was about; what stands now is what is compared
  const again = (await look(id, { cause: 'check' })).body;
  expect(again.of).toEqual({ id: 'ap-1', cause: 'check' });
  for (const who of ['anna', 'ben']) expect((await claim('appeals', who, { skills: ['de'] })).tickets).toEqual([]);
  await decide((await claim('appeals', 'carl', { skills: ['de'] })).tickets[0], { verdict: 'keep' });
  expect(await ticket('ap-1')).toMatchObject({
    ...{ looks: [{}, { outcome: 'upheld' }], standing: { ticket: id } },
  });
});

test('B.2 fifty appeals at once are one look, and calls that cannot have one are told why', async () => {
  await open('many', 'mn-1', 'no');
  const answers = await Promise.all(repeat(50, () => look('mn-1', { cause: 'appeal', by: 'author' })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  const code = async (id: string, more: object) => (await look(id, more)).body.code;
  expect(await code('mn-1', { cause: 'appeal', by: 'another' })).toBe('already_open');
  expect(await code('mn-1', { cause: 'check' })).toBe('already_open');
  // a key with a name passes on the appeals of others
  const { body: made } = await api.post('/v1/keys', { name: 'shop', role: 'producer', subject: 'shop' });
  const shop = api.as(made.key);
  expect((await look('mn-1', { cause: 'appeal', by: 'author' }, shop)).status).toBe(200);
  expect((await look('mn-1', { cause: 'appeal', by: 'another' }, shop)).body.code).toBe('already_open');
  await add('many', { id: 'mn-2' });
  expect(await code('mn-2', { cause: 'appeal' })).toBe('not_final');
  await api.post('/v1/tickets/mn-2/invalidate', { reason: 'r' });
  expect(await code('mn-2', { cause: 'appeal' })).toBe('not_final');
  expect(await code('nothing', { cause: 'appeal' })).toBe('not_found');
  for (const wrong of [{}, { cause: 'x' }, { cause: 'overturn' }, { cause: 'check', decision: 1 }])
    expect((await look('mn-1', wrong)).status).toBe(422);
  await open('short', 'sh-1', 'no', { second: { appealDays: 0.000001 } });
  await sleep(200);
  expect(await code('sh-1', { cause: 'appeal' })).toBe('window_closed');
  expect((await look('sh-1', { cause: 'check' })).status).toBe(201);
});

test('B.2 a supervisor overturns a decision at once, also an open look, and never their own', async () => {
  const form = { type: 'object', required: ['v'] };
  await open('over', 'ov-1', { v: 1 }, { form, second: { compare: ['/v'] } });
  const lead = await keyed('supervisor', 'lead');
  const overturn = (decision: unknown, by = lead) =>
    look('ov-1', { cause: 'overturn', reason: 'policy', decision }, by);
  expect((await overturn({ v: 2 }, await keyed('producer'))).status).toBe(403);
  expect((await overturn({ v: 2 }, await keyed('supervisor', 'anna'))).status).toBe(403);
  expect((await overturn('not of the form')).status).toBe(422);
  const first = await overturn({ v: 2, note: 'a' });
  expect([first.status, first.body.state, first.body.decidedBy, first.body.reason]).toEqual([
    ...[201, 'decided', 'lead', 'policy'],
  ]);
  const again = await overturn({ v: 2, note: 'a' });
  expect([again.status, again.body.id]).toEqual([200, first.body.id]);
  const standing = { by: 'lead', decision: { v: 2, note: 'a' }, reason: 'policy' };
  expect((await ticket('ov-1')).standing).toMatchObject(standing);

  // null is a decision as any
  await open('over-null', 'on-1', 'no');
  expect((await look('on-1', { cause: 'overturn', decision: null, by: 'lead' })).status).toBe(201);
  expect((await ticket('on-1')).standing).toMatchObject({ decision: null, by: 'lead' });

  // an appeal meets an open check; an overturn decides both, and whoever holds the look loses it
  const check = (await look('ov-1', { cause: 'check' })).body;
  const joined = await look('ov-1', { cause: 'appeal', by: 'author', reason: 'why?' });
  expect([joined.status, joined.body.id]).toEqual([200, check.id]);
  expect((await ticket('ov-1')).looks.at(-1)).toMatchObject({ causes: ['check', 'appeal'] });
  expect((await api.get(`/v1/tickets/${check.id}/notes`)).body.items).toMatchObject([{ by: 'author', text: 'why?' }]);
  const held = await claimOne('over', 'ben');
  expect(held.id).toBe(check.id);
  const second = await look('ov-1', { cause: 'overturn', by: 'chief', decision: { v: 1 } });
  expect([second.status, second.body.id, second.body.decidedBy]).toEqual([200, check.id, 'chief']);
  expect((await decide(held, { v: 2 })).body).toMatchObject({ code: 'not_open' });
  expect((await ticket('ov-1')).standing).toMatchObject({ by: 'chief', decision: { v: 1 } });
  // what its decider could not be handed they may not resolve either
  const last = (await look('ov-1', { cause: 'check' })).body;
  const resolve = (by = api) => by.post(`/v1/tickets/${last.id}/resolve`, { decision: { v: 1, n: 2 }, reason: 'r' });
  expect((await resolve(lead)).status).toBe(403);
  expect((await resolve(await keyed('supervisor', 'anna'))).status).toBe(403);
  expect((await resolve(await keyed('supervisor', 'other'))).status).toBe(200);
  expect((await ticket('ov-1')).looks.map(({ outcome }: Json) => outcome)).toEqual([
    'overturned',
    'overturned',
    'upheld',
  ]);
});

test('B.2 the receiver of the first decision is told of each look, with a higher version', async () => {
  const receiver = await startReceiver();
  await open('told', 'to-1', 'no', { callback: receiver.callback });
  await eventually(async () => receiver.received.length === 1);
  const { id } = await appeal('to-1');
  await decide(await claimOne('told', 'ben'), 'yes');
  const last = await appeal('to-1', { by: 'other' });
  await api.post(`/v1/tickets/${last.id}/invalidate`, { reason: 'withdrawn' });
  await look('to-1', { cause: 'overturn', by: 'lead', decision: 'yes' });
  await eventually(async () => receiver.received.length === 4);
  const messages = receiver.received.map(opened).toSorted((a, b) => a.version - b.version);
  expect(messages.map(({ type }) => type)).toEqual([
    ...['ticket.decided', 'ticket.overturned', 'ticket.look_ended', 'ticket.upheld'],
  ]);
  expect(new Set(messages.map(({ version }) => version)).size).toBe(4);
  expect(messages[0]?.ticket).toMatchObject({ looks: [], version: messages[0]?.version });
  expect(messages[1]).toMatchObject({
    ticket: { id: 'to-1', decision: 'no', looks: [{ id, outcome: 'overturned' }], standing: { decision: 'yes' } },
    look: { id, decision: 'yes', decidedBy: 'ben', of: { id: 'to-1' } },
  });
  expect(messages[2]?.ticket.looks).toHaveLength(2);
  // opened at once, or when the first has long been moved on by a look
  await open('told', 'to-2', 'no', { callback: receiver.callback });
  await look('to-2', { cause: 'overturn', by: 'lead', decision: 'yes' });
  const sent = () => receiver.received.map(opened).filter(({ ticket: about }) => about.id === 'to-2');
  await eventually(async () => sent().length === 2);
  const listed = (await api.get('/v1/tickets/to-2/deliveries')).body.items.map(({ version }: Json) => version);
  expect(listed.toSorted()).toEqual(
    sent()
      .map(({ version }) => version)
      .toSorted(),
  );
  receiver.received.length -= 2;
  // each is in the list, and is sent again with what it said at first; looks have no deliveries of their own
  const { items } = (await api.get('/v1/tickets/to-1/deliveries')).body;
  expect(items.map(({ n }: Json) => n)).toEqual([4, 3, 2, 1]);
  await api.post('/v1/tickets/to-1/deliveries/1/redeliver');
  await eventually(async () => receiver.received.length === 5);
  expect(opened(receiver.received[4] as never)).toEqual(messages[0]);
  const idOf = (n: number) => receiver.received[n]?.headers['webhook-id'];
  expect(idOf(4)).toBe(idOf(0));
  expect((await api.get(`/v1/tickets/${id}/deliveries`)).body.items).toEqual([]);
});

test('B.2 an overturn goes to the review that the first decision went to, the newest wins (S1.2)', async () => {
  await api.put('/v1/reviews/rv-1', { text: { status: 0 } });
  await add('audits', { id: 'au-1', callback: { review: 'rv-1', kind: 'text' } });
  await decide(await claimOne('audits', 'anna'), { status: 1 });
  const status = async () => (await api.get('/v1/reviews/rv-1')).body.text?.status;
  await eventually(async () => (await status()) === 1);
  await appeal('au-1');
  const held = await claimOne('audits', 'ben');
  expect((await decide(held, 'no status')).status).toBe(422);
  await decide(held, { status: 2 });
  await eventually(async () => (await status()) === 2);
});

test('B.2 checks are drawn by a secret, of decisions by a lease, never of looks', async () => {
  const n = 400;
  const ids = numbered(n, 'dr');
  await configure('drawn-looks', {});
  await configure('drawn', { maxHeld: 100, second: { share: 0.25, queue: 'drawn-looks' } });
  await addMany('drawn', ids);
  for (let left = n; left > 0; left -= 100) {
    const { tickets } = await claim('drawn', 'anna', { count: 100 });
    await Promise.all(tickets.map((held: Json) => decide(held, 'ok')));
  }
  const page = async (cursor = '') => (await api.get(`/v1/tickets?queue=drawn&limit=200${cursor}`)).body;
  const first = await page();
  const all = [...first.items, ...(await page(`&cursor=${encodeURIComponent(first.nextCursor)}`)).items];
  const looked = all.filter(({ looks }: Json) => looks.length > 0).map(({ id }: Json) => id);
  // beyond five standard deviations
  expect(Math.abs(looked.length - n * 0.25)).toBeLessThan(44);
  // the same secret draws the same ones, another one does not
  const drawn = await sql('select id from unnest($1::text[]) as id, draw_key where draw_of(key, id) < 0.25', [ids]);
  expect(drawn.map(({ id }) => id).toSorted()).toEqual(looked.toSorted());
  // of 20,000 within the bounds that 99 of 100 secrets stay in
  const tenth = `select count(*)::integer from generate_series(1, 20000) n where draw_of('\\x0102', 't-' || n) < 0.1`;
  expect(Math.abs((await cell(tenth)) - 2_000)).toBeLessThanOrEqual(109);
  const looks = (await api.get('/v1/tickets?queue=drawn-looks&limit=1')).body.items;
  expect(looks[0].of.cause).toBe('check');
  expect((await claim('drawn-looks', 'anna')).reasons.excluded).toBeGreaterThan(0);
  await configure('drawn-looks', { second: { share: 1 } });
  const { ticket: done } = (await decide(await claimOne('drawn-looks', 'ben'), 'ok', { next: true })).body;
  expect(done.looks).toEqual([]);

  await configure('every', { second: { share: 1 } });
  await add('every', { id: 'ev-1' });
  await api.post('/v1/tickets/ev-1/resolve', { decision: 1, reason: 'r' });
  expect((await ticket('ev-1')).looks).toEqual([]);
  expect((await decided('every', { id: 'ev-2' })).looks).toHaveLength(1);
  await configure('every', { second: { share: 1, of: 'models' } });
  expect((await decided('every', { id: 'ev-3' })).looks).toEqual([]);
  for (const second of [{ share: 2 }, { queue: 'none-such' }, { compare: ['x'] }, { adapt: { min: 1, max: 0 } }])
    expect((await api.put('/v1/queues/every', { second })).status).toBe(422);
});

test('B.2 where the share adapts, the more looks uphold a decider the fewer there are', async () => {
  await configure('adapts', { second: { adapt: { min: 0.1, max: 0.9 } } });
  const share = async () =>
    (await sql("select look_share(q, 'anna') as share from queue q where name = 'adapts'"))[0]?.share;
  expect(await share()).toBeCloseTo(0.9);
  for (const verdict of ['ok', 'ok', 'no']) {
    const { id } = await decided('adapts', {});
    const now = await ticket(id);
    if (now.looks.length === 0) await look(id, { cause: 'check' });
    const before = await share();
    await decide(await claimOne('adapts', 'ben'), verdict);
    const after = await share();
    if (verdict === 'ok') expect(after).toBeLessThan(before);
    else expect(after).toBeGreaterThan(before);
  }
});

test('B.2 looks are in no bulk call, sync nothing, and go with what they are about', async () => {
  await open('bulk', 'bu-1', 'no', { sync: 'subject' });
  await add('bulk', { id: 'bu-2', subject: 's' });
  await decide(await claimOne('bulk', 'anna'), 'no');
  const { id } = await appeal('bu-2');
  await add('bulk', { id: 'bu-3', subject: 's' });
  expect(
    (await api.post('/v1/queues/bulk/invalidate', { filter: {}, reason: 'r', dryRun: true })).body.invalidated,
  ).toBe(1);
  const resolve = { filter: { subject: 's' }, decision: 'x', reason: 'r' };
  expect((await api.post('/v1/tickets/resolve', resolve)).body).toEqual({ resolved: 1, skipped: 0 });
  await add('bulk', { id: 'bu-4', subject: 's' });
  const held = (await claim('bulk', 'ben', { count: 1 })).tickets[0];
  expect(held.id).toBe(id);
  expect((await decide(held, 'other')).body.synced).toBe(0);
  expect((await ticket('bu-4')).state).toBe('waiting');

  const last = await appeal('bu-2', { by: 'second' });
  await erased(api, { item: { kind: 'ticket', id: 'bu-2' } });
  expect(await ticket(last.id)).toMatchObject({ state: 'invalidated', erased: true, body: null });
  expect(await ticket(id)).toMatchObject({ erased: true, decision: null });
  const gone = await ticket('bu-2');
  expect(gone).toMatchObject({ erased: true, standing: { decision: null } });
  expect(gone.looks.map(({ outcome }: Json) => outcome)).toEqual(['overturned', 'none']);
  expect((await look('bu-2', { cause: 'check' })).body.code).toBe('erased');
  const left = await sql("select id from item where id = any ($1) and look::text ~ 'second|other|author'", [
    ['bu-2', id],
  ]);
  expect(left).toEqual([]);
});

test('B.2 who decided stays excluded from looks that follow the erasure of their name', async () => {
  await configure('forgotten', {});
  await add('forgotten', { id: 'fo-1' });
  await decide(await claimOne('forgotten', 'gone-person'), 'no');
  const { remains } = await erased(api, { person: 'gone-person' });
  expect(remains.some(({ what }: Json) => /excludes it from 1 items/.test(what))).toBe(true);
  const { id } = await appeal('fo-1');
  expect((await claim('forgotten', 'gone-person')).reasons).toMatchObject({ excluded: 1 });
  const left = await sql("select id from item where item::text ~ 'gone-person' and queue = 'forgotten'");
  expect(left).toEqual([]);
  await decide(await claimOne('forgotten', 'ben'), 'no');
  expect((await ticket('fo-1')).looks).toMatchObject([{ id, outcome: 'upheld' }]);
});
