import { expect, test } from 'vitest';
import { addCase, addCases, claim, claimed, court, insist, jurors, oneCase, vote, voted } from '../support/cases.ts';
import { eventually, type Json, numbered, walk } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();

const bodies = (ids: string[]) => ids.map((id) => ({ id, body: id }));

test('S2.8 new settings of a court with 8,000 open cases are answered soon, and decide first what they can decide', async () => {
  const rules = { votesToWin: 5, strategy: { pick: 'oldest' } };
  await court(api, 'large', rules);
  await jurors(api, 'large', numbered(3));
  for (const id of ['leads-1', 'leads-2']) await addCase(api, 'large', { id });
  for (const juror of ['j0', 'j1'])
    for (let n = 0; n < 2; n++) {
      const { id, token } = await claimed(api, 'large', juror);
      await voted(api, id, token, 'buyer');
    }
  const ids = numbered(8_000, 'l');
  for (let at = 0; at < ids.length; at += 1_000) await addCases(api, 'large', bodies(ids.slice(at, at + 1_000)));
  const began = performance.now();
  await court(api, 'large', { ...rules, votesToWin: 2, overbook: 3, deadlineSeconds: 86_400 });
  const tookMs = performance.now() - began;
  for (const id of ['leads-1', 'leads-2'])
    expect(await oneCase(api, id)).toMatchObject({ state: 'decided', winner: 'buyer', tally: { buyer: 2 } });
  // before, each case was a step of its own: 3 to 13 s for 10,000 of them
  expect(tookMs).toBeLessThan(2_500);
  const last = await eventually(async () => {
    const found = await oneCase(api, 'l7999');
    return found.votesLeft === 2 && found;
  });
  expect(Date.parse(last.deadlineAt) - Date.parse(last.createdAt)).toBe(86_400_000);
  expect((await claim(api, 'large', 'j2')).case).toMatchObject({ id: 'l0', votesLeft: 2, holds: 1 });
}, 180_000);

test('S2.8 settings put twice within a second: nothing is decided by the withdrawn ones', async () => {
  const rules = { votesToWin: 3, strategy: { pick: 'oldest' } };
  await court(api, 'twice', rules);
  await jurors(api, 'twice', numbered(4));
  const ids = numbered(200, 't');
  await addCases(api, 'twice', bodies(ids));
  for (let n = 0; n < ids.length; n++) {
    const { id, token } = await claimed(api, 'twice', 'j0');
    await voted(api, id, token, 'buyer');
  }
  const withdrawn = court(api, 'twice', { ...rules, votesToWin: 1 });
  while ((await api.get('/v1/courts/twice')).body.votesToWin !== 1);
  const { updatedAt } = await court(api, 'twice', rules);
  await withdrawn;
  const decided = (await walk(api, '/v1/cases?court=twice&state=decided', 100)).map((one: Json) => one.decidedAt);
  expect(decided.filter((at: string) => at > updatedAt)).toEqual([]);
  const open = await walk(api, '/v1/cases?court=twice&state=open', 100);
  for (const one of open) expect(one).toMatchObject({ tally: { buyer: 1 }, votesLeft: 2 });
}, 180_000);

test('S2.8 a vote that comes together with new settings goes by the old ones before they are replaced, or by the new ones', async () => {
  const rules = (votesToWin: number) => ({ votesToWin, strategy: { pick: 'oldest' }, overbook: 10 });
  await court(api, 'race', rules(1));
  const ids = numbered(12, 'r');
  await jurors(api, 'race', ids);
  for (let round = 0; round < 5; round++) {
    await addCases(api, 'race', bodies(ids.map((id) => `${id}-${round}`)));
    const held = await Promise.all(ids.map((juror) => claimed(api, 'race', juror)));
    const votes = held.map(({ id, token }) => vote(api, id, token, 'buyer'));
    const { updatedAt } = await court(api, 'race', rules(5));
    for (const { status } of await Promise.all(votes)) expect([200, 409]).toContain(status);
    const { items } = insist(await api.get('/v1/cases?court=race&state=decided&limit=500'), 'cases', 200);
    for (const one of items)
      if (one.tally.buyer < 5) expect(one.decidedAt <= updatedAt, `${one.id} ${one.decidedAt} ${updatedAt}`).toBe(true);
    const open = await walk(api, '/v1/cases?court=race&state=open', 100);
    for (const one of open) await api.post(`/v1/cases/${one.id}/invalidate`, { reason: 'next round' });
    await court(api, 'race', rules(1));
  }
});

test('S2.7 S2.8 a deadline that new settings have taken away or put off hangs nothing', async () => {
  await court(api, 'put-off', { deadlineSeconds: 3 });
  await addCase(api, 'put-off', { id: 'put-off-1' });
  await addCase(api, 'put-off', { id: 'put-off-own', deadlineSeconds: 2 });
  await court(api, 'put-off', { deadlineSeconds: 3_600 });
  await eventually(async () => (await oneCase(api, 'put-off-own')).state === 'hung');
  const { createdAt, deadlineAt } = await oneCase(api, 'put-off-1');
  expect(Date.parse(deadlineAt) - Date.parse(createdAt)).toBe(3_600_000);
  await eventually(async () => Date.now() > Date.parse(createdAt) + 4_000);
  expect(await oneCase(api, 'put-off-1')).toMatchObject({ state: 'open' });
});
