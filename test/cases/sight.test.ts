import { expect, test } from 'vitest';
import { addCase, claimed, court, insist, jurors, oneCase, voted } from '../support/cases.ts';
import { createKey } from '../support/keys.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, running } = await startTestSystem();

const keyed = async (name: string, role: 'reviewer' | 'agent' | 'producer') =>
  api.as((await createKey(running.runtime.db, { name, role, subject: role === 'reviewer' ? name : null })).key);

const BLIND = { state: 'open', tally: { buyer: 0, seller: 0 }, votesLeft: 3, winner: null, holds: 1, wasted: 0 };
test('S2.3 a juror sees nothing of how others vote before their own vote, and all of it after the end', async () => {
  await court(api, 'blind', { votesToWin: 3, overbook: 1 });
  await jurors(api, 'blind', ['first', 'second', 'third', 'reader']);
  await addCase(api, 'blind', { id: 'blind-1', parties: [{ id: 'anna' }, { id: 'ben' }], body: { about: 'a shoe' } });
  await voted(api, 'blind-1', (await claimed(api, 'blind', 'first')).token, 'buyer');
  const reader = await keyed('reader', 'reviewer');
  const { case: handed, lease } = insist(await reader.post('/v1/courts/blind/claim', {}), 'claim', 200);
  expect(handed).toMatchObject({ ...BLIND, id: 'blind-1', body: { about: 'a shoe' }, parties: [] });
  expect(await oneCase(reader, 'blind-1')).toEqual(handed);
  const released = await reader.post('/v1/cases/blind-1/release', { token: lease.token });
  expect(insist(released, 'release', 200)).toMatchObject({ ...BLIND, holds: 0 });

  const again = insist(await reader.post('/v1/courts/blind/claim', {}), 'claim', 200);
  const after = (await voted(reader, 'blind-1', again.lease.token, 'seller')).case;
  expect(after).toMatchObject({ ...BLIND, holds: 0, tally: { buyer: 0, seller: 1 }, votesLeft: 2 });
  expect(await oneCase(reader, 'blind-1')).toEqual(after);
  for (const juror of ['second', 'third'])
    await voted(api, 'blind-1', (await claimed(api, 'blind', juror)).token, 'buyer');
  expect(await oneCase(reader, 'blind-1')).toMatchObject({
    ...{ state: 'decided', winner: 'buyer', tally: { buyer: 3, seller: 1 }, votesLeft: 0 },
  });
  // the fields are those of any other case
  expect(Object.keys(handed).sort()).toEqual(Object.keys(await oneCase(api, 'blind-1')).sort());
});

test('S2.3 a juror reads no case that they do not hold and have not voted on, a party least of all', async () => {
  await court(api, 'others', { votesToWin: 3, leaseSeconds: 600 });
  await jurors(api, 'others', ['holder', 'idle', { id: 'anna-2', person: 'anna' }, 'left']);
  await addCase(api, 'others', { id: 'others-1', parties: [{ id: 'anna' }] });
  const { token } = await claimed(api, 'others', 'left');
  insist(await api.post('/v1/cases/others-1/release', { token }), 'release', 200);
  await claimed(api, 'others', 'holder');
  for (const who of ['idle', 'anna', 'anna-2', 'left', 'stranger'])
    expectProblem(await (await keyed(who, 'reviewer')).get('/v1/cases/others-1'), who, 'not_found');
  expectProblem(await (await keyed('guesser', 'reviewer')).get('/v1/cases/no-such-case'), 'none', 'not_found');
  expect(await oneCase(await keyed('holder', 'reviewer'), 'others-1')).toMatchObject({ holds: 1 });
});

test('S2.3 an app and a producer see all of a case, as do their calls for jurors', async () => {
  await court(api, 'trusted', { votesToWin: 3 });
  await jurors(api, 'trusted', ['one', 'two']);
  await addCase(api, 'trusted', { id: 'trusted-1', parties: [{ id: 'anna' }] });
  const app = await keyed('app', 'agent');
  await voted(app, 'trusted-1', (await claimed(app, 'trusted', 'one')).token, 'buyer');
  const { case: handed } = insist(await app.post('/v1/courts/trusted/claim', { juror: 'two' }), 'claim', 200);
  const whole = { tally: { buyer: 1, seller: 0 }, votesLeft: 2, holds: 1, parties: [{ id: 'anna' }] };
  expect(handed).toMatchObject(whole);
  for (const caller of [app, await keyed('shop', 'producer')])
    expect(await oneCase(caller, 'trusted-1')).toMatchObject({ ...whole, version: handed.version });
});
