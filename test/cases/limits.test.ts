import { expect, test } from 'vitest';
import { addCases, claimed, court, jurors, voted } from '../support/cases.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running } = await startTestSystem();

const limits = async (name: string, juror: string) => (await api.get(`/v1/courts/${name}/jurors/${juror}`)).body;

test('S2.4 S2.10 a juror sees what is left of the window and of the day, over all their accounts', async () => {
  await court(api, 'limits', { window: { cases: 3, seconds: 3600 }, votesPerDay: 2 });
  await jurors(api, 'limits', [{ id: 'ben', person: 'anna' }, 'anna', 'rita']);
  await addCases(
    api,
    'limits',
    Array.from({ length: 5 }, (_, n) => ({ id: `limits-${n}`, body: n })),
  );
  expect(await limits('limits', 'ben')).toMatchObject({
    id: 'ben',
    eligible: true,
    window: { cases: 3, shown: 0, left: 3, freesAt: null },
    day: { votes: 0, limit: 2, left: 2 },
  });
  const { id, token } = await claimed(api, 'limits', 'anna');
  await voted(api, id, token, 'buyer');
  const after = await limits('limits', 'ben');
  expect(after).toMatchObject({ window: { shown: 1, left: 2 }, day: { votes: 1, left: 1 } });
  expect(Date.parse(after.window.freesAt)).toBeGreaterThan(Date.now());
  expect(after.day.endsAt).toMatch(/T00:00:00\.000Z$/);
  expect(await limits('limits', 'rita')).toMatchObject({ window: { shown: 0 }, day: { votes: 0 } });
  expect(await limits('limits', 'stranger')).toMatchObject({ eligible: false });
});

test('S2.10 a court without limits says so, and a key that is bound to a juror sees its own only', async () => {
  await court(api, 'free');
  await jurors(api, 'free', ['anna']);
  expect(await limits('free', 'anna')).toEqual({ id: 'anna', eligible: true, window: null, day: null });
  expect((await api.get('/v1/courts/nowhere/jurors/anna')).status).toBe(404);
  const { key } = await createKey(running.runtime.db, {
    ...{ name: 'anna', role: 'reviewer', subject: 'anna', queues: null },
  });
  expect((await api.as(key).get('/v1/courts/free/jurors/anna')).status).toBe(200);
  expect((await api.as(key).get('/v1/courts/free/jurors/ben')).status).toBe(403);
});
