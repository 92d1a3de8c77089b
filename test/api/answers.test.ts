import { z } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { answer, endpoint, ok } from '../../api/endpoint.ts';
import { ticketView } from '../../domain/tickets.ts';
import { checkAnswer } from '../support/document.ts';

const Body = z.object({ name: z.string(), state: z.enum(['open', 'final']), note: z.string().default('') });
const named = ['getThings', 'GET /v1/things'] as const;
const given = {
  tag: 'System',
  summary: 'Things',
  roles: null,
  scope: 'any',
} as const;
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
} as unknown as Parameters<typeof ticketView>[0]);

test('an answer that its schema does not describe does not compile, nor does an endpoint without a scope', () => {
  expect(checkedByTheCompiler()).toHaveLength(10);
});

test('an answer of the API that its document does not describe fails the test that gets it', () => {
  expect(() => checkAnswer({ ...call, status: 200, body: ticket })).not.toThrow();
  expect(() => checkAnswer({ ...call, status: 200, body: { ...ticket, state: 'ready' } })).toThrow(
    /^GET \/v1\/tickets\/one answered 200, and its body at \/state must be equal to one of .*, is "ready"/,
  );
  const { id, ...nameless } = ticket;
  expect(() => checkAnswer({ ...call, status: 200, body: nameless })).toThrow(/at \/ must have required property 'id'/);
  expect(() => checkAnswer({ ...call, status: 201, body: ticket })).toThrow(/answered 201, and .* has no such status/);
  expect(() => checkAnswer({ ...call, contentType: 'text/html', status: 200, body: '' })).toThrow(/it is text\/html/);
  const list = { ...call, url: 'http://localhost/v1/tickets', status: 200 };
  expect(() =>
    checkAnswer({ ...list, body: { items: [ticket, { ...ticket, version: 1.5 }], nextCursor: null } }),
  ).toThrow(/at \/items\/1\/version must be integer/);
});

test('what the document does not have, streams, and numbers of any size are not checked', () => {
  const unchecked = [
    { ...call, url: 'http://localhost/nothing', status: 404, body: 'nothing' },
    { ...call, method: 'DELETE', status: 405, body: {} },
    { ...call, url: 'http://localhost/v1/feed', contentType: 'application/x-ndjson', status: 200, body: '' },
    { ...call, url: 'http://localhost/v1/stream', contentType: 'text/event-stream', status: 200, body: '' },
    { ...call, status: 200, body: { ...ticket, body: [2 ** 60, JSON.parse('1e400')] } },
  ];
  for (const one of unchecked) expect(() => checkAnswer(one)).not.toThrow();
});
