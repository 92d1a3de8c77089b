import { expect, test } from 'vitest';
import { startTestSystem } from '../support/system.ts';

const { api, keyed } = await startTestSystem();
const { add, claimOne, configure, decide } = api.tickets;

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
