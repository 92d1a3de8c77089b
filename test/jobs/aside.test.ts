import { describe, expect, test } from 'vitest';
import { createKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });
const command = async (name: string, fields: object) => (await api.post('/v1/jobs', { command: name, ...fields })).body;
const bury = (id: string, reason = 'poisonous') => api.post(`/v1/jobs/${encodeURIComponent(id)}/bury`, { reason });
const eventsOf = async (id: string) =>
  (await api.get(`/v1/jobs/${id}/events`)).body.items.map(({ type }: { type: string }) => type);

describe('an operator puts a job aside without its token', () => {
  test('S3 ready, delayed or reserved, it is given to no one until it is kicked', async () => {
    for (const [id, delay] of [
      ['ready', 0],
      ['delayed', 600],
      ['reserved', 0],
    ] as const) {
      const topic = `aside-${id}`;
      await command('add', { topic, id, delay, TTR: 60, body: 1 });
      if (id === 'reserved') await command('pop', { topic });
      expect((await bury(id)).body).toMatchObject({ id, state: 'buried', reservedUntil: null });
      expect((await command('pop', { topic })).id).toBeNull();
      expect((await api.get(`/v1/topics/${topic}/stats`)).body).toMatchObject({ buried: 1, ready: 0, delayed: 0 });
      expect((await command('kick', { id })).value).toBe(1);
      expect((await command('pop', { topic })).id).toBe(id);
    }
  });

  test('S3.3 who had it reserved can neither finish nor keep it, and its log says who took it and why', async () => {
    await command('add', { topic: 'taken', id: 'taken', TTR: 60, body: 1 });
    const { token } = await command('pop', { topic: 'taken' });
    await bury('taken', 'it stops every consumer');
    for (const name of ['touch', 'finish'])
      expect(await command(name, { id: 'taken', token })).toMatchObject({ success: false, code: 'lease_lost' });
    const { items } = (await api.get('/v1/jobs/taken/events')).body;
    expect(items.find(({ type }: { type: string }) => type === 'buried')).toMatchObject({
      actor: 'anonymous',
      data: { reason: 'it stops every consumer' },
    });
  });

  test('S3.3 a consumer whose job another key has buried is refused whatever it does with it; a producer may not bury', async () => {
    const closed = await startTestSystem({ DOCKET_AUTH: 'keys' });
    const as = async (name: string) =>
      closed.api.as((await createKey(closed.running.runtime.db, { name, role: 'consumer', subject: name })).key);
    const [consumer, operator] = [await as('consumer'), await as('operator')];
    const send = async (name: string, fields: object) =>
      (await consumer.post('/v1/jobs', { command: name, ...fields })).body;
    await send('add', { topic: 'keyed', id: 'keyed', TTR: 60, body: 1 });
    const { token } = await send('pop', { topic: 'keyed' });
    expect((await operator.post('/v1/jobs/keyed/bury', { reason: 'poisonous' })).status).toBe(200);
    for (const name of ['touch', 'finish', 'release', 'bury'])
      expect(await send(name, { id: 'keyed', token })).toMatchObject({ success: false, code: 'lease_lost' });
    const producer = await createKey(closed.running.runtime.db, { name: 'producer', role: 'producer', subject: null });
    expect((await closed.api.as(producer.key).post('/v1/jobs/keyed/bury', { reason: 'no' })).status).toBe(403);
  });

  test('fifty at once, and again: it is buried once', async () => {
    await command('add', { topic: 'often', id: 'often', TTR: 60, body: 1 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => bury('often')));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect((await eventsOf('often')).filter((type: string) => type === 'buried')).toHaveLength(1);
  });

  test('what is over stays so, what is unknown is not found, and a reason is needed', async () => {
    await command('add', { topic: 'over', id: 'over', TTR: 60, body: 1 });
    await command('finish', { id: 'over' });
    expect(await bury('over')).toMatchObject({ status: 409, body: { code: 'not_open' } });
    expect(await bury('no-such-job')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await api.post('/v1/jobs/over/bury', {})).toMatchObject({ status: 422 });
    expect((await api.get('/v1/jobs/over')).body.state).toBe('finished');
  });
});
