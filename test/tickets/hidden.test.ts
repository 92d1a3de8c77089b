import { expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { type Call, plain, type World, walked } from '../support/alike.ts';
import { callWith, nameOf, pathOf, sampleBody } from '../support/calls.ts';
import { dice, eventually, insist, type Json } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { mayCall } from '../support/role-matrix.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed, sql } = await startTestSystem({}, { role: 'api' });
const { add, configure, suggested, ticket } = api.tickets;

const putGold = (queue: string, tickets: object[]) => api.put(`/v1/queues/${queue}/gold`, { tickets });
const isGold = async (id: string) => (await sql('select from gold_copy where id = $1', [id])).length > 0;

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
    const walk = async (isClaiming: boolean) => void answers.push(await walked(CALLS, w, isClaiming));
    // until it ends the ticket's life is the same in all cases
    const isFirst = ending === 'decided';
    if (isFirst) await walk(false);
    const { tickets } = await w.client.tickets.claim(queue, person);
    const [held] = tickets;
    w.id = held.id;
    w.token = held.lease.token;
    answers.push(plain(tickets, w));
    expect(await isGold(held.id)).toBe(kind === 'gold');
    expect(held.id).toMatch(/^[0-9a-z]{8}-[\w-]{12}$/);
    expect(Date.now() - Date.parse(held.createdAt)).toBeLessThan(60_000);
    if (isFirst) await walk(true);
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

const MARK = 'QqQhiddenQqQ';
/** All that a reviewer may call, but for what never ends and what ends the key. */
const REVIEWER_CALLS = endpoints.filter(
  ({ operation, path }) => mayCall(operation, 'reviewer') && path !== '/v1/stream' && operation !== 'signOut',
);
// what only reads goes first: a claim would hold the look
REVIEWER_CALLS.sort((a, b) => Number(a.method !== 'get') - Number(b.method !== 'get'));
/** These change the ticket: they are made by the steps, with what they are to be made with. */
const STEPS = ['decideTicket', 'releaseTicket', 'transferTicket', 'renewTicket', 'putTicketDraft'];

/** Each call of a reviewer about these, in all words of all answers. */
async function seen(client: Json, queue: string, ids: string[], token: string): Promise<string> {
  const answers: string[] = [];
  for (const e of REVIEWER_CALLS)
    for (const id of ids) {
      if (STEPS.includes(e.operation) && token !== '') continue;
      const params = { id, queue };
      const body = e.operation.startsWith('claim') && {
        reviewer: client.person,
        ...(e.path === '/v1/claim' && { queues: [queue] }),
      };
      const explained = e.operation === 'explainClaim' && { reviewer: client.person, ticket: id };
      const sample = sampleBody(e);
      const sent = body || explained || (sample && { ...sample, ...('waitSeconds' in sample && { waitSeconds: 0 }) });
      const path = `${pathOf(e, params)}${e.operation.startsWith('listTickets') ? `?queue=${queue}` : ''}`;
      const reply = sent
        ? await callWith(client.http, e, JSON.stringify(sent), { params })
        : await client.http.raw(e.method.toUpperCase(), path);
      answers.push(`${nameOf(e)} ${id}: ${reply.status} ${JSON.stringify(reply.body)}`);
    }
  return answers.join('\n');
}

const suggestMark = async (id: string, model: string, confidence: number) => {
  const decision = { say: `${MARK} decision` };
  await suggested(id, `${MARK}-${model}`, decision, confidence, { reasons: [`${MARK} reasons`] });
};

const reviewer = async (person: string) => ({ person, http: await keyed('reviewer', person) });

test('B.2 in mode shadow no call of a reviewer and no stream shows a suggestion, whatever they do', async () => {
  const queue = 'shadow';
  for (let seed = 1; seed <= byNight(20, 1); seed++) {
    const roll = dice(seed);
    await configure(queue, { assist: { mode: 'shadow', minConfidence: 0 } });
    const [anna, ben] = [await reviewer(`anna-${seed}`), await reviewer(`ben-${seed}`)];
    const stream = await openStream(anna.http, `reviewer=${anna.person}`);
    const watch = await openStream(anna.http, `queue=${queue}`);
    const ids = [`sh-${seed}-1`, `sh-${seed}-2`];
    for (const id of ids) await add(queue, { id, body: 'x', subject: 's' });
    let models = 0;
    for (let step = 0; step < byNight(30, 8); step++) {
      const who = roll(2) === 0 ? anna : ben;
      const id = ids[roll(2)] as string;
      const claimed = insist(await who.http.post(`/v1/queues/${queue}/claim`, {}), 'claim', 200);
      expect(JSON.stringify(claimed)).not.toContain(MARK);
      const [held] = claimed.tickets;
      if ((await ticket(id)).state !== 'decided') await suggestMark(id, `m${models++}`, roll(10) / 10);
      const text = await seen(who, queue, ids, held?.lease.token ?? '');
      expect(text).not.toContain(MARK);
      expect(text).toContain('"automation":"none"');
      if (!held) continue;
      const end = ['release', 'renew', 'decide', 'draft'][roll(step < 4 ? 2 : 4)] as string;
      const token = held.lease.token;
      const path = `/v1/tickets/${held.id}/${end}`;
      const answer =
        end === 'draft'
          ? await who.http.put(path, { token, draft: {} })
          : await who.http.post(path, end === 'decide' ? { token, decision: { say: 'mine' }, next: true } : { token });
      expect(JSON.stringify(answer.body ?? null)).not.toContain(MARK);
    }
    for (const open of [stream, watch]) expect(JSON.stringify(open.events)).not.toContain(MARK);
  }
}, 240_000);

test('B.2 of a look at what a model decided no call of a reviewer shows what that was, nor that it was a model', async () => {
  const queue = 'looked';
  await configure(queue, { assist: { mode: 'auto', minConfidence: 0.5, share: 1 } });
  for (let round = 0; round < byNight(10, 3); round++) {
    const id = `lo-${round}`;
    // one who held it before may read it, as anybody who was handed a ticket
    const before = await reviewer(`before-${round}`);
    await add(queue, { id, body: 'x' });
    const held = insist(await before.http.post(`/v1/queues/${queue}/claim`, {}), 'claim', 200).tickets[0];
    await suggestMark(id, 'm', 0.9);
    insist(await before.http.post(`/v1/tickets/${id}/release`, { token: held.lease.token }), 'release', 200);
    await eventually(async () => (await ticket(id)).state === 'decided');
    const [{ id: look }] = (await ticket(id)).looks;
    await suggestMark(look, 'n', 1);
    const stream = await openStream(before.http, `reviewer=${before.person}`);
    for (const who of round % 2 === 0 ? [before] : [before, await reviewer(`other-${round}`)]) {
      const text = await seen(who, queue, [id, look], '');
      expect(text).not.toContain(MARK);
      expect(text).not.toContain('"automation":"full"');
    }
    expect(JSON.stringify(stream.events)).not.toContain(MARK);
    const claimed = insist(await before.http.post(`/v1/queues/${queue}/claim`, {}), 'claim', 200);
    const [mine] = claimed.tickets;
    if (mine) {
      const done = await before.http.post(`/v1/tickets/${mine.id}/decide`, {
        token: mine.lease.token,
        decision: { say: 'no' },
      });
      expect(JSON.stringify(done.body)).not.toContain(MARK);
    }
    await eventually(async () => (await api.tickets.stats(queue)).held <= 1);
  }
}, 120_000);
