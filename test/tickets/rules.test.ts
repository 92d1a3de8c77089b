import { expect, test } from 'vitest';
import { eventually, type Json, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';
import { ago } from '../support/times.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });
const { add, addMany, claim, claimOne, configure, drain, eventTypes, events, operate, ticket, withToken } = api.tickets;

const kind = (name: string) => ({
  properties: { body: { properties: { kind: { const: name } }, required: ['kind'] } },
});
const streamer = { name: 'streamer', when: kind('streamer'), priority: 100 };
const last = async (id: string): Promise<Json> => (await events(id)).at(-1);

test('S0.2 rules set and add to the priority of a ticket as it is added, in order', async () => {
  const violent = { properties: { body: { properties: { text: { pattern: '(?i)blood' } }, required: ['text'] } } };
  const rules = [
    streamer,
    { when: kind('streamer'), priority: 7 },
    { when: violent, add: 20, requires: ['hard'] },
    { name: 'by-url', when: { properties: { callback: { enum: ['url', 'text'] } } }, add: -3 },
    { when: { properties: { priority: { minimum: 900 } } }, add: 2000 },
  ];
  expect((await configure('rules', { rules })).rules).toEqual(rules);
  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  expect(await add('rules', { id: 'plain', priority: 5, body: { kind: 'x' } })).toMatchObject({ priority: 5 });
  expect(await add('rules', { id: 'streamer', body: { kind: 'streamer' } })).toMatchObject({ priority: 100 });
  const both = { kind: 'streamer', text: 'a lot of Blood' };
  expect(
    await add('rules', { id: 'both', body: both, callback: { url: 'http://127.0.0.1:9/', secret } }),
  ).toMatchObject({ priority: 117, requires: ['hard'] });
  expect(await add('rules', { id: 'most', priority: 950, body: { kind: 'x' } })).toMatchObject({ priority: 1000 });
  expect((await events('both')).map((e) => [e.type, e.actor, e.data])).toEqual([
    ['created', 'anonymous', { queue: 'rules', priority: 0 }],
    [
      'changed',
      'system',
      { changed: { priority: 117, requires: ['hard'] }, priorityBefore: 0, rules: ['streamer', 2, 'by-url'] },
    ],
  ]);
  expect(await eventTypes('plain')).toEqual(['created']);
  expect(await drain('rules', 3)).toEqual(['most', 'streamer', 'plain']);
  expect((await claimOne('rules', 'expert', { skills: ['hard'] })).id).toBe('both');
  const again = await api.post('/v1/queues/rules/tickets', { id: 'streamer', body: { kind: 'streamer' } });
  expect(again).toMatchObject({ status: 200, body: { priority: 100 } });
});

test('S0.2 rules look at the subject and the category, its own or from the body, as they are and as they become', async () => {
  const has = (field: string, value: string) => ({ properties: { [field]: { const: value } } });
  const rules = [
    { name: 'risky', when: has('subject', 'mallory'), add: 1, requires: ['fraud'] },
    { name: 'spam', when: has('category', 'spam'), add: 20 },
  ];
  const all = async () => {
    const { items } = (await api.get('/v1/tickets?queue=about')).body;
    return Object.fromEntries(items.map((t: Json) => [t.id, t.priority]));
  };
  await configure('about', { categoryFrom: '/kind', rules });
  await addMany('about', [
    { id: 'own', category: 'spam', subject: 'mallory', body: {} },
    { id: 'found', body: { kind: 'spam', type: 'ham' } },
    { id: 'neither', body: { kind: 'ham', type: 'spam' } },
  ]);
  await eventually(async () => expect(await all()).toEqual({ own: 21, found: 20, neither: 0 }));
  expect((await api.patch('/v1/tickets/found', { category: 'ham' })).body.priority).toBe(0);
  expect((await api.patch('/v1/tickets/found', { category: null })).body.priority).toBe(20);
  expect((await api.patch('/v1/tickets/own', { subject: null })).body.priority).toBe(20);
  const other = { categoryFrom: '/type', rules };
  const ticket = { body: { type: 'spam' }, subject: 'mallory' };
  const { body } = await api.put('/v1/queues/about', { ...other, dryRun: true, ticket });
  expect(body).toMatchObject({ total: 2, ticket: { priority: 21, requires: ['fraud'], rules: ['risky', 'spam'] } });
  await configure('about', other);
  expect(await all()).toEqual({ own: 20, found: 0, neither: 20 });
});

test('S0.2 each ticket of a batch and each that is transferred goes by the rules of its queue', async () => {
  await configure('batch', { rules: [streamer], maxHeld: 10 });
  const bodies = ['a', 'streamer', 'b', 'streamer'];
  await addMany(
    'batch',
    bodies.map((name, n) => ({ id: `b-${n}`, body: { kind: name } })),
  );
  const { tickets } = await claim('batch', 'r', { count: 4 });
  expect(tickets.map((t: Json) => `${t.id} ${t.priority}`)).toEqual(['b-1 100', 'b-3 100', 'b-0 0', 'b-2 0']);
  await configure('ruleless', {});
  const moved = await withToken(tickets[0], 'transfer', { queue: 'ruleless' });
  expect(moved.body).toMatchObject({ queue: 'ruleless', priority: 0 });
  await add('ruleless', { id: 'to-rules', body: { kind: 'streamer' } });
  const back = await operate('to-rules', 'transfer', { queue: 'batch' });
  expect(back.body).toMatchObject({ queue: 'batch', priority: 100 });
});

test('S0.2 a changed body is ruled anew, also while held; what was set by hand stays', async () => {
  await configure('bodies', { rules: [streamer, { when: kind('video'), add: 5, requires: ['video'] }] });
  await add('bodies', { id: 'body', priority: 3, body: { kind: 'streamer' } });
  expect((await api.patch('/v1/tickets/body', { body: { kind: 'video' } })).body).toMatchObject({
    priority: 8,
    requires: ['video'],
  });
  const held = await claimOne('bodies', 'anna', { skills: ['video'] });
  const stream = await openStream(api, 'reviewer=anna');
  expect((await api.patch('/v1/tickets/body', { body: { kind: 'none' } })).body).toMatchObject({
    priority: 3,
    requires: [],
  });
  await stream.first('changed');
  expect((await api.patch('/v1/tickets/body', { priority: 42 })).body.priority).toBe(42);
  expect((await api.patch('/v1/tickets/body', { body: { kind: 'streamer' } })).body.priority).toBe(42);
  await withToken(held, 'release');
  await configure('bodies', { rules: [{ when: {}, priority: 1 }] });
  expect(await ticket('body')).toMatchObject({ priority: 42, state: 'waiting' });
});

test('S0.2 a reclaimed ticket goes by the rules for its attempts before it is handed out again', async () => {
  const tried = (n: number) => ({ when: { properties: { attempts: { minimum: n } } } });
  await configure('tried', {
    leaseSeconds: 2,
    rules: [
      { ...tried(2), priority: 60 },
      { ...tried(1), priority: 30 },
    ],
  });
  await add('tried', { id: 'tried' });
  await add('tried', { id: 'other', priority: 10, delaySeconds: 3 });
  expect((await claimOne('tried', 'r1')).priority).toBe(0);
  const second = await eventually(async () => (await claim('tried', 'r2')).tickets.find((t: Json) => t.id === 'tried'));
  expect(second.priority).toBe(30);
  expect(await eventTypes('tried')).toEqual(['created', 'claimed', 'reclaimed', 'changed', 'claimed']);
  expect((await withToken(second, 'release')).body.priority).toBe(60);
  expect((await last('tried')).data).toMatchObject({ rules: [0], priorityBefore: 30 });
});

test('S0.2 a ticket left between its reclaim and its rules by a crash is not handed out with a stale priority', async () => {
  await configure('crash', { rules: [streamer] });
  await add('crash', { id: 'crash', body: { kind: 'streamer' } });
  await sql(`update item set rules_due_at = clock_timestamp() - interval '3 seconds', priority = 0 where id = 'crash'`);
  expect((await claim('crash', 'r')).tickets).toEqual([]);
  const got = await claim('crash', 'r', { waitSeconds: 20 });
  expect(got.tickets[0]).toMatchObject({ id: 'crash', priority: 100 });
});

test('S0.2 changed rules reach what waits before the answer, and a dry run lists what they would move', async () => {
  const sent = repeat(700, (n) => ({ id: `w-${n}`, body: { kind: n % 2 ? 'odd' : 'even' } }));
  await addMany('waiting', sent);
  const rules = [{ when: kind('odd'), add: 9 }];
  const dry = await api.put('/v1/queues/waiting', { rules, dryRun: true });
  expect(dry).toMatchObject({ status: 200, body: { total: 350 } });
  expect(dry.body.wouldMove).toHaveLength(100);
  expect(dry.body.wouldMove[0]).toEqual({ id: 'w-1', before: 0, after: 9 });
  expect(dry.body.warnings).toEqual([]);
  expect((await ticket('w-1')).priority).toBe(0);
  expect((await api.get('/v1/queues/waiting')).body.rules).toEqual([]);
  await configure('waiting', { rules, maxHeld: 700 });
  const { tickets } = await claim('waiting', 'r', { count: 100 });
  expect(tickets.map((t: Json) => t.id)).toEqual(repeat(100, (n) => `w-${2 * n + 1}`));
  await configure('waiting', {});
  expect(await ticket('w-699')).toMatchObject({ priority: 0 });
  expect((await last('w-699')).data).toEqual({ changed: { priority: 0 }, priorityBefore: 9, rules: [] });
});

test('S0.2 escalations and rules together: the higher one counts', async () => {
  await configure('both', { rules: [streamer], escalations: [{ afterSeconds: 60, priority: 50 }] });
  expect((await add('both', { body: { kind: 'streamer' }, createdAt: ago(100) })).priority).toBe(100);
  const aged = await add('both', { body: { kind: 'x' }, createdAt: ago(100) });
  expect(aged.priority).toBe(50);
  expect((await api.patch(`/v1/tickets/${aged.id}`, { body: { kind: 'y' } })).body.priority).toBe(50);
});

test('S0.2 a rule that is wrong is refused and named', async () => {
  const wrong: [object, string][] = [
    [{ when: { type: 'nonsense' }, add: 1 }, 'rules.0.when'],
    [{ when: { pattern: '(a)\\1' }, add: 1 }, 'rules.0.when'],
    [{ when: {} }, 'rules.0'],
    [{ when: {}, add: 1, priority: 1 }, 'rules.0.add'],
    [{ when: {}, priority: 1001 }, 'rules.0.priority'],
    [{ add: 1 }, 'rules.0.when'],
    [{ when: {}, add: 1, requires: repeat(21, (n) => `s${n}`) }, 'rules'],
  ];
  for (const [rule, path] of wrong) {
    const reply = await api.put('/v1/queues/wrong', { rules: [rule] });
    expectProblem(reply, JSON.stringify(rule), 'invalid_request');
    expect(reply.body.errors[0].path, JSON.stringify(rule)).toBe(path);
  }
});

/** A condition that takes more time than there is, for tickets whose body has the field `dear`. */
const dear = () => {
  const step = (n: number) => ({ allOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] });
  const $defs = Object.fromEntries(repeat(40, (n) => [`d${n}`, n < 39 ? step(n + 1) : {}]));
  return { $defs, properties: { body: { properties: { dear: step(0) } } } };
};

test('S0.2 a ticket whose rules run out of time is held back, marked, and free when the rules are changed', async () => {
  await configure('dear', { rules: [{ when: dear(), requires: ['senior'] }] });
  await configure('beside', { rules: [streamer] });
  const adding = addMany('dear', [
    ...repeat(8, (n) => ({ id: `dear-${n}`, body: { dear: 1 } })),
    ...[{ id: 'cheap', body: {} }],
  ]);
  const parked = async () => Number(/^docket_parked_items (\d+)$/m.exec((await api.get('/metrics')).body)?.[1]);
  // a neighbour does not wait for all of them
  await add('beside', { id: 'beside', body: { kind: 'streamer' } });
  await eventually(async () => (await ticket('beside')).priority === 100);
  expect(await parked()).toBeLessThan(8);
  await adding;
  await eventually(async () => (await parked()) >= 8, 60_000);
  expect(await last('dear-0')).toMatchObject({ type: 'parked', data: { error: expect.stringContaining('its rules') } });
  expect((await claim('dear', 'anyone', { count: 50 })).tickets.filter((t: Json) => t.id !== 'cheap')).toEqual([]);
  const explained = await api.post('/v1/queues/dear/explain', { reviewer: 'anyone', ticket: 'dear-0' });
  expect(explained.body).toMatchObject({ offered: false, why: ['rules'] });
  // the queue has used up its time, and its settings can be changed all the same
  await configure('dear', { rules: [{ when: {}, requires: ['senior'] }], maxHeld: 50 });
  expect(await parked()).toBe(0);
  expect((await claim('dear', 'anyone', { count: 50 })).tickets).toEqual([]);
  const { tickets } = await claim('dear', 'expert', { count: 50, skills: ['senior'] });
  expect(tickets.length).toBeGreaterThanOrEqual(8);
}, 120_000);

test('S0.2 tickets added while rules change end up under the newest', async () => {
  for (let round = 0; round < byNight(5, 3); round++) {
    const queue = `race-${round}`;
    await configure(queue, {});
    const adding = Promise.all(repeat(40, (n) => add(queue, { id: `${queue}-${n}`, body: { kind: 'streamer' } })));
    await configure(queue, { rules: [streamer] });
    await adding;
    await eventually(async () =>
      (await api.get(`/v1/tickets?queue=${queue}&limit=100`)).body.items.every((t: Json) => t.priority === 100),
    );
  }
});

test('S0.2 a dry run lists skills that would be required; it and a save warn of rules over fields that tickets do not have', async () => {
  for (const id of ['skill-1', 'skill-2']) await add('skilled', { id, body: { kind: id } });
  const $defs = { a: { required: ['author'], if: { required: ['lang'] } } };
  const rules = [
    { when: kind('skill-1'), requires: ['senior'] },
    { name: 'typo', when: { allOf: [{ properties: { kind: { const: 'skill-2' } }, required: ['kind'] }] }, add: 5 },
    { name: 'deep', when: { $ref: '#/$defs/a', $defs }, add: 5 },
  ];
  const { body } = await api.put('/v1/queues/skilled', { rules, dryRun: true });
  expect(body).toMatchObject({ total: 1, wouldMove: [{ id: 'skill-1', before: 0, after: 0 }] });
  expect(body.wouldMove[0].requires).toEqual({ before: [], after: ['senior'] });
  const unknown =
    'which tickets do not have: they have id, body, subject, category, priority, requires, attempts, callback';
  const named = ['rule typo looks at kind', 'rule deep looks at author', 'rule deep looks at lang'];
  const warnings = named.map((each) => `${each}, ${unknown}`);
  expect(body.warnings).toEqual(warnings);
  expect((await api.put('/v1/queues/skilled', { rules })).body).toMatchObject({ name: 'skilled', rules, warnings });
  expect((await api.get('/v1/queues/skilled')).body).not.toHaveProperty('warnings');
  expect((await api.put('/v1/queues/skilled', { rules: rules.slice(0, 1) })).body).not.toHaveProperty('warnings');
});

test('S0.2 a dry run says what the rules make of a ticket as it would be sent; without a dry run it is refused', async () => {
  const rules = [
    { name: 'streamer', when: kind('streamer'), priority: 995, requires: ['senior'] },
    { when: kind('other'), add: 1 },
    { when: { properties: { requires: { contains: { const: 'de' } } } }, add: 20 },
  ];
  const tried = { body: { kind: 'streamer' }, priority: 3, requires: ['de'] };
  const { body } = await api.put('/v1/queues/tried', { rules, dryRun: true, ticket: tried });
  expect(body.ticket).toEqual({ priority: 1000, requires: ['de', 'senior'], rules: ['streamer', 2] });
  expect((await api.put('/v1/queues/tried', { rules, dryRun: true })).body).not.toHaveProperty('ticket');
  expect(await api.put('/v1/queues/tried', { rules, ticket: tried })).toMatchObject({
    ...{ status: 422, body: { errors: [{ path: 'ticket', message: 'belongs to dryRun' }] } },
  });
});
