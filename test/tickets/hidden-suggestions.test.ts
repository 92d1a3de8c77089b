import { expect, test } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { callWith, nameOf, pathOf, sampleBody } from '../support/calls.ts';
import { dice, eventually, insist, type Json } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { mayCall } from '../support/role-matrix.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const system = await startTestSystem();
const { api, keyed } = system;
const { add, configure, ticket } = api.tickets;

const MARK = 'QqQhiddenQqQ';
/** All that a reviewer may call, but for what never ends and what ends the key. */
const CALLS = endpoints.filter(
  ({ operation, path }) => mayCall(operation, 'reviewer') && path !== '/v1/stream' && operation !== 'signOut',
);
// what only reads goes first: a claim would hold the look
CALLS.sort((a, b) => Number(a.method !== 'get') - Number(b.method !== 'get'));
/** These change the ticket: they are made by the steps, with what they are to be made with. */
const STEPS = ['decideTicket', 'releaseTicket', 'transferTicket', 'renewTicket', 'putTicketDraft'];

/** Each call of a reviewer about these, in all words of all answers. */
async function seen(client: Json, queue: string, ids: string[], token: string): Promise<string> {
  const answers: string[] = [];
  for (const e of CALLS)
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
  const body = { model: `${MARK}-${model}`, decision, confidence, reasons: [`${MARK} reasons`] };
  insist(await api.post(`/v1/tickets/${id}/suggestions`, body), 'suggestion', 201);
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
