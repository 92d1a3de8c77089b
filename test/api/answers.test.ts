import { readFileSync } from 'node:fs';
import { z } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { answer, endpoint, ok } from '../../api/endpoint.ts';
import { PROBLEM_HELP } from '../../contract/problem-help.ts';
import { PROBLEMS, type ProblemCode } from '../../contract/problems.ts';
import { ticketView } from '../../domain/tickets.ts';
import { Problem } from '../../services/shared/service.ts';
import { addCase, claimed, court, jurors } from '../support/cases.ts';
import { claimOne, type Json, numbered, walk } from '../support/client.ts';
import { checkAnswer } from '../support/document.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });

const Body = z.object({ name: z.string(), state: z.enum(['open', 'final']), note: z.string().default('') });
const named = ['getThings', 'GET /v1/things'] as const;
const given = { tag: 'System', summary: 'Things', roles: null, scope: 'any' } as const;
const answers = { 200: Body, 202: z.object({ at: z.string() }) };
const thing = { name: 'one', state: 'open' as const };

// what does not compile is what these lines are about: `npx tsc --noEmit` runs them
const checkedByTheCompiler = () => [
  endpoint(...named, { ...given, answers, handle: async () => ok(thing) }),
  endpoint(...named, { ...given, answers, handle: async () => answer(202, { at: '2026-11-21' }) }),
  endpoint(...named, { ...given, answers, handle: async () => new Response('a stream') }),
  // @ts-expect-error: how it treats keys that are bound to queues is missing
  endpoint(...named, { ...given, scope: undefined, answers, handle: async () => ok(thing) }),
  // @ts-expect-error: a field is missing
  endpoint(...named, { ...given, answers, handle: async () => ok({ name: 'one' }) }),
  // @ts-expect-error: null where there is always a name
  endpoint(...named, { ...given, answers, handle: async () => ok({ ...thing, name: null }) }),
  // @ts-expect-error: a state that is not one of them
  endpoint(...named, { ...given, answers, handle: async () => ok({ ...thing, state: 'held' as const }) }),
  // @ts-expect-error: a date is not its text
  endpoint(...named, { ...given, answers, handle: async () => answer(202, { at: new Date() }) }),
  // @ts-expect-error: the body of another status
  endpoint(...named, { ...given, answers, handle: async () => answer(202, thing) }),
  // @ts-expect-error: a status without a schema
  endpoint(...named, { ...given, answers, handle: async () => answer(201, thing) }),
];

const call = { method: 'GET', url: 'http://localhost/v1/tickets/one?a=b', contentType: 'application/json' };
const ticket = ticketView({
  ...{ id: 'one', queue: 'q', state: 'ready', priority: 0, body: null, requires: [], exclude: [], attempts: 0 },
  ...{ version: 1, created_at: new Date(), available_at: new Date(), deadline_at: null, holder: null },
  ...{ subject: null, synced_with: null, category: null, for_person: null, for_until: null },
} as unknown as Parameters<typeof ticketView>[0]);

test('an answer that its schema does not describe does not compile, nor does an endpoint without a scope', () => {
  expect(checkedByTheCompiler()).toHaveLength(10);
});

test('an answer of the API that its document does not describe fails the test that gets it', () => {
  const checked = (more: object) => expect(() => checkAnswer({ ...call, status: 200, body: ticket, ...more }));
  checked({}).not.toThrow();
  checked({ body: { ...ticket, state: 'ready' } }).toThrow(
    /^GET \/v1\/tickets\/one answered 200, and its body at \/state must be equal to one of .*, is "ready"/,
  );
  const { id, ...nameless } = ticket;
  checked({ body: nameless }).toThrow(/at \/ must have required property 'id'/);
  checked({ status: 201 }).toThrow(/answered 201, and .* has no such status/);
  checked({ contentType: 'text/html', body: '' }).toThrow(/it is text\/html/);
  const items = [ticket, { ...ticket, version: 1.5 }];
  const list = { url: 'http://localhost/v1/tickets', body: { items, nextCursor: null } };
  checked(list).toThrow(/at \/items\/1\/version must be integer/);
  // what the document does not have, streams, and numbers of any size are not checked
  checked({ url: 'http://localhost/nothing', status: 404 }).not.toThrow();
  checked({ method: 'DELETE', status: 405 }).not.toThrow();
  for (const [stream, contentType] of Object.entries({ feed: 'application/x-ndjson', stream: 'text/event-stream' }))
    checked({ url: `http://localhost/v1/${stream}`, contentType, body: '' }).not.toThrow();
  checked({ body: { ...ticket, body: [2 ** 60, JSON.parse('1e400')] } }).not.toThrow();
});

const codes = Object.keys(PROBLEMS) as ProblemCode[];

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
/** What a reader sees of a piece of HTML. */
const textOf = (html: string) =>
  html.replaceAll(/<[^>]+>/g, '').replaceAll(/&(lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? '');

test('the type of a problem is where the server that answered explains it', async () => {
  const { body } = await api.get('/v1/tickets/none');
  expect(body).toMatchObject({ code: 'not_found', type: '/docs/errors#not_found' });
  expect((await api.get(body.type)).status).toBe(200);
});

test.each(codes)('the type of %s leads to what it means and what to do', async (code) => {
  const { type } = new Problem(code, 'detail').toJSON('request');
  const url = new URL(type, api.url);
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/html');
  const page = await response.text();
  const section = new RegExp(`<section id="${url.hash.slice(1)}">([\\s\\S]*?)</section>`).exec(page)?.[1] ?? '';
  const text = textOf(section);
  const { meaning, action } = PROBLEM_HELP[code];
  for (const said of [code, String(PROBLEMS[code].status), meaning, action])
    expect(text).toContain(said.replaceAll('`', ''));
});

test('what is wrong with a field is said in the words of who sends it', async () => {
  const { body } = await api.put('/v1/queues/q', { leaseSeconds: 0, maxHeld: 1.5, lease: 7, highlight: [''] });
  expect(Object.fromEntries(body.errors.map(({ path, message }: Json) => [path, message]))).toEqual({
    leaseSeconds: 'must be at least 0.001',
    maxHeld: 'must be a whole number',
    lease: 'must be "fixed" or "adaptive"',
    'highlight.0': 'must have at least 1 character',
  });
  expect((await api.post('/v1/jobs', { command: 'add', topic: 't' })).body.error).toBe('add: id: is required');
});

test('docs/errors.md has exactly the codes that there are, with their statuses', () => {
  const page = readFileSync('docs/errors.md', 'utf8');
  const sections = [...page.matchAll(/^## (\w+)\n\n\*\*(\d+)\*\*/gm)].map(([, code, status]) => [code, Number(status)]);
  expect(sections).toEqual(codes.map((code) => [code, PROBLEMS[code].status]));
});

/** The lease has run out, and no clock has ended it yet. */
const runOut = (id: string) =>
  sql(
    `update item set expires_at = granted_at + interval '1 microsecond', wake_at = clock_timestamp() + interval '1 hour' where id = $1`,
    [id],
  );

test('S3.3 a reservation that has run out, or never was: finish says which', async () => {
  const job = async (command: string, fields: object): Promise<Json> =>
    (await api.post('/v1/jobs', { command, ...fields })).body;
  await job('add', { topic: 'lost', id: 'j', delay: 0, TTR: 60, body: 1 });
  const { token } = await job('pop', { topic: 'lost' });
  expect(await job('finish', { id: 'j', token: 'made-up' })).toMatchObject({ success: false, reason: 'revoked' });
  await runOut('j');
  expect(await job('touch', { id: 'j', token })).toMatchObject({ success: false, reason: 'expired' });
});

test('S2.3 a vote with a token that was never given for this case', async () => {
  await court(api, 'lost', {});
  await jurors(api, 'lost', numbered(1));
  await addCase(api, 'lost', { id: 'c' });
  await claimed(api, 'lost', 'j0');
  const { status, body } = await api.post('/v1/cases/c/votes', { token: 'made-up', option: 'buyer' });
  expect([status, body.code, body.reason]).toEqual([409, 'lease_lost', 'revoked']);
});

for (const queue of ['first', 'second', 'third', 'empty']) await api.put(`/v1/queues/${queue}`, {});
for (const queue of ['third', 'first', 'second'])
  await api.post(`/v1/queues/${queue}/tickets`, { id: `${queue}-1`, body: { text: queue } });
await claimOne(api, 'second', 'anna');
await api.post('/v1/queues/second/tickets', { id: 'second-2', body: {} });

test('S4.9 a list of queues has the figures of each, as each has them by itself', async () => {
  const listed = await walk(api, '/v1/queues?stats=true', 1);
  expect(new Set(listed.map((queue) => queue.name)).size).toBe(listed.length);
  for (const name of ['first', 'second', 'third', 'empty']) expect(listed.map((q) => q.name)).toContain(name);
  for (const { name, stats } of listed) {
    const own = (await api.get(`/v1/queues/${name}/stats`)).body;
    expect({ ...stats, oldestWaitingSeconds: null }, name).toEqual({ ...own, oldestWaitingSeconds: null });
    expect(stats.oldestWaitingSeconds === null, name).toBe(own.oldestWaitingSeconds === null);
  }
  for (const path of ['/v1/queues', '/v1/queues?stats=false'])
    expect((await api.get(path)).body.items[0]).not.toHaveProperty('stats');
  for (const query of ['stats=1', 'stats=', 'cursor=x'])
    expectProblem(await api.get(`/v1/queues?${query}`), query, 'invalid_request');
});

test('a key for some queues sees the figures of those only', async () => {
  const { key } = (await api.post('/v1/keys', { role: 'agent', queues: ['first', 'e*'] })).body;
  const { items } = (await api.as(key).get('/v1/queues?stats=true')).body;
  expect(items.map((q: Json) => q.name)).toEqual(['empty', 'first']);
});
