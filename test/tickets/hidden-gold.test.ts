import { expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import type { Client, Json } from '../support/client.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed, sql } = await startTestSystem();
const { add, configure } = api.tickets;

const putGold = (queue: string, tickets: object[]) => api.put(`/v1/queues/${queue}/gold`, { tickets });
const isGold = async (id: string) => (await sql('select from gold_copy where id = $1', [id])).length > 0;

interface World {
  queue: string;
  person: string;
  client: Client;
  /** The ticket that is handed first, and its token. */
  id: string;
  token: string;
}

type Call = ['get' | 'post' | 'put', string, object?];

/** The calls that a reviewer may make about tickets and queues, as they are made at each step, also when they are refused. */
const CALLS: Record<string, (w: World) => Call[]> = {
  getQueue: ({ queue }) => [['get', `/v1/queues/${queue}`]],
  listQueues: () => [['get', '/v1/queues?stats=true&limit=2']],
  getQueueStats: ({ queue }) => [queue, `${queue}-other`].map((name) => ['get', `/v1/queues/${name}/stats`]),
  getPeopleFigures: ({ queue }) => [['get', `/v1/figures/people?queue=${queue}`]],
  explainClaim: ({ queue, id }) => [{}, { ticket: id }].map((more) => ['post', `/v1/queues/${queue}/explain`, more]),
  getTicket: ({ id }) => [['get', `/v1/tickets/${id}`]],
  listTickets: ({ queue }) =>
    ['', '&state=held', '&state=decided', '&state=waiting', '&limit=1', '&verdict=keep', '&overturned=false'].map(
      (more) => ['get', `/v1/tickets?queue=${queue}${more}`],
    ),
  listTicketsCsv: ({ queue }) => [['get', `/v1/tickets.csv?queue=${queue}&automation=none`]],
  listViews: () => [['get', '/v1/views']],
  putView: () => [['put', '/v1/views/v', { filter: {} }]],
  putMacro: ({ queue }) => [['put', `/v1/queues/${queue}/macros/m`, { decision: 'keep' }]],
  listMacros: ({ queue }) => [['get', `/v1/queues/${queue}/macros`]],
  addTicketNote: ({ id }) => [['post', `/v1/tickets/${id}/notes`, { text: 'n' }]],
  listTicketNotes: ({ id }) => [['get', `/v1/tickets/${id}/notes`]],
  putTicketDraft: ({ id, token }) => [['put', `/v1/tickets/${id}/draft`, { token, draft: 1 }]],
  getTicketDraft: ({ id }) => [['get', `/v1/tickets/${id}/draft`]],
  getTicketContext: ({ id }) => [['get', `/v1/tickets/${id}/context`]],
  renewTicket: ({ id, token }) => [['post', `/v1/tickets/${id}/renew`, { token }]],
  decideTicket: ({ id, token }) =>
    [1, { status: 1 }, { verdict: 1 }].map((decision) => ['post', `/v1/tickets/${id}/decide`, { token, decision }]),
  releaseTicket: ({ id, token }) =>
    [{ token: 'x' }, { token, delaySeconds: -1 }].map((body) => ['post', `/v1/tickets/${id}/release`, body]),
  transferTicket: ({ id, token }) => [['post', `/v1/tickets/${id}/transfer`, { token, queue: 'nowhere' }]],
  disputeTicket: ({ id }) => [['post', `/v1/tickets/${id}/dispute`, { reason: 'r' }]],
  // at the end, because they hand something out
  claimTickets: ({ queue }) => [['post', `/v1/queues/${queue}/claim`, {}]],
  claimFromQueues: ({ queue }) => [['post', '/v1/claim', { queues: [queue] }]],
};

/** An answer without what differs between any two tickets. */
function plain(value: unknown, w: World): unknown {
  const words: [RegExp, string][] = [
    [new RegExp(w.queue, 'g'), 'queue'],
    [new RegExp(w.person, 'g'), 'person'],
    [new RegExp(w.id || '^$', 'g'), 'id'],
    [/[0-9a-z]{8}-[\w-]{12}(?![\w-])/g, 'another'],
    [/lt_[\w-]+/g, 'token'],
    [/\d{4}-\d\d-\d\dT[\d:.]+Z(_\d+)?/g, 'time'],
  ];
  const clean = (one: unknown, key: string): unknown => {
    if (key === 'requestId' || key === 'nextCursor') return 'any';
    if (typeof one === 'string') return words.reduce((text, [from, to]) => text.replace(from, to), one);
    if (Array.isArray(one)) return one.map((item) => clean(item, key));
    if (typeof one === 'object' && one !== null)
      return Object.fromEntries(Object.entries(one).map(([name, item]) => [name, clean(item, name)]));
    return typeof one === 'number' && /version|Seconds$/.test(key) && key !== 'leaseSeconds' ? 'number' : one;
  };
  return clean(value, '');
}

const ENDINGS: Record<string, (w: World, held: Json) => Promise<unknown>> = {
  decided: ({ client }, held) => client.tickets.decide(held, { verdict: 'keep' }),
  wrong: ({ client }, held) => client.tickets.decide(held, { verdict: 'remove' }, { next: true }),
  skipped: ({ client }, held) => client.tickets.withToken(held, 'release', { skip: true, reason: 'r' }),
  delayed: ({ client }, held) => client.tickets.withToken(held, 'release', { skip: true, delaySeconds: 900 }),
  transferred: ({ client, queue }, held) => client.tickets.withToken(held, 'transfer', { queue: `${queue}-other` }),
  released: ({ client }, held) => client.tickets.withToken(held, 'release'),
  expired: async ({ id }) => {
    await sql('update item set expires_at = now(), wake_at = now() where id = $1', [id]);
    return api.tickets.inState(id, 'waiting');
  },
};

test.each(Object.keys(ENDINGS))('B.2 no call of a reviewer tells gold from a ticket that is %s', async (ending) => {
  const called = endpoints.filter(({ roles, tag, path, operation }) => {
    // what somebody saved is about no ticket
    const isAbout =
      (['Tickets', 'Queues'].includes(tag) || path.startsWith('/v1/figures')) && !/^delete/.test(operation);
    return roles?.includes('reviewer') && isAbout;
  });
  const about = called.map(({ operation }) => operation);
  expect(Object.keys(CALLS).sort()).toEqual(about.sort());
  const seen = [];
  for (const kind of ['plain', 'gold']) {
    const [queue, person] = [`${kind}-${ending}`, `${kind}-${ending}-p`];
    const w: World = { queue, person, client: await keyed('reviewer', person), id: 'nothing', token: 'none' };
    const form = { type: 'object', required: ['verdict'], properties: { verdict: { type: 'string' } } };
    await configure(queue, { gold: { share: 1 }, form, deadlineSeconds: 3600 });
    await configure(`${queue}-other`, { deadlineSeconds: 7200 });
    const body = { text: 'x' };
    if (kind === 'plain') await add(queue, { body });
    else expect((await putGold(queue, [{ id: 'g', body, answer: { verdict: 'keep' } }])).status).toBe(200);
    await add(queue, { body });
    const stream = await openStream(w.client, `queue=${queue}`);
    const own = await openStream(w.client, `reviewer=${person}`);
    const answers: unknown[] = [];
    const walk = async (isClaiming: boolean) => {
      for (const [operation, calls] of Object.entries(CALLS)) {
        if (!isClaiming && operation.startsWith('claim')) continue;
        for (const [method, path, sent] of calls(w)) {
          const { status, body } = await w.client[method](path, sent);
          answers.push([operation, status, plain(body, w)]);
        }
      }
    };
    await walk(false);
    const { tickets } = await w.client.tickets.claim(queue, person);
    const [held] = tickets;
    w.id = held.id;
    w.token = held.lease.token;
    answers.push(plain(tickets, w));
    expect(await isGold(held.id)).toBe(kind === 'gold');
    expect(held.id).toMatch(/^[0-9a-z]{8}-[\w-]{12}$/);
    expect(Date.now() - Date.parse(held.createdAt)).toBeLessThan(60_000);
    await walk(true);
    const answer = (await ENDINGS[ending]?.(w, held)) as { status?: number; body?: unknown };
    answers.push([answer.status, plain(answer.body, w)]);
    await walk(true);
    const wanted = (await w.client.get(`/v1/queues/${queue}/stats`)).body;
    const counts = ({ waiting, held, decided }: Json) => JSON.stringify([waiting, held, decided]);
    await stream.first('stats', (stats) => counts(stats) === counts(wanted));
    for (const { events } of [stream, own])
      answers.push(events.filter(({ event }) => event !== 'stats').map(({ event, data }) => [event, plain(data, w)]));
    seen.push(answers);
  }
  expect(seen[1]).toEqual(seen[0]);
});
