import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { addCase, addCases, claim, claimed, court, jurors, oneCase, vote, votes } from '../support/cases.ts';
import { eventually, numbered, repeat } from '../support/client.ts';
import { behind } from '../support/database.ts';
import { startTestSystem, testStores } from '../support/system.ts';

const stores = await testStores();
const { api } = await startTestSystem({}, { stores });
/** Another process on the same database: what one of them shares or keeps in memory, the other doesn't. */
const { api: other } = await startTestSystem({}, { role: 'api', stores });

test('S2.2 S2.5 votes at once with the deciding one: as many count as decide, and the rest are refused', async () => {
  await court(api, 'both', { votesToWin: 2, overbook: 10 });
  await jurors(api, 'both', numbered(10));
  for (let round = 0; round < 10; round++) {
    const { id } = await addCase(api, 'both', { id: `both-${round}` });
    const held = await Promise.all(numbered(10).map((juror) => claimed(api, 'both', juror)));
    const answers = await Promise.all(
      held.map(({ token }, n) => vote(n % 2 ? api : other, id, token, n % 3 ? 'buyer' : 'seller')),
    );
    const counted = answers.filter((a) => a.status === 200);
    const { winner, tally, wasted } = await oneCase(api, id);
    expect(tally[winner]).toBe(2);
    expect(tally.buyer + tally.seller).toBe(counted.length);
    expect(await votes(api, id)).toHaveLength(counted.length);
    expect(wasted).toBe(10 - counted.length);
    for (const { status, body } of answers)
      if (status !== 200) expect(body).toMatchObject({ code: 'not_open', state: 'decided' });
  }
}, 60_000);

test('S2.2 the same vote from fifty callers at once is one vote, with one answer', async () => {
  await court(api, 'fifty', { votesToWin: 2 });
  await jurors(api, 'fifty', ['ann', 'ben']);
  await addCase(api, 'fifty', { id: 'fifty' });
  const { id, token } = await claimed(api, 'fifty', 'ann');
  const answers = await Promise.all(repeat(50, (n) => vote(n % 2 ? api : other, id, token, 'buyer')));
  for (const { status, body } of answers)
    expect({ status, counted: body.counted }).toEqual({ status: 200, counted: true });
  expect(await oneCase(api, id)).toMatchObject({ tally: { buyer: 1, seller: 0 } });
  // the same token with other content
  expect((await vote(api, id, token, 'seller')).body).toMatchObject({ code: 'lease_lost', reason: 'settled' });
});

test('S2.4 a hold that begins behind a wait begins after the end of the one before', async () => {
  // no clock runs here: the hold is ended by hand, while the juror's next claim is under way
  const still = await testStores();
  const system = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api', stores: still });
  await court(system.api, 'wait', {});
  await jurors(system.api, 'wait', ['ann']);
  await addCases(system.api, 'wait', [
    { id: 'wait-1', body: 1 },
    { id: 'wait-2', body: 2 },
  ]);
  const first = await claimed(system.api, 'wait', 'ann');
  const claimDirectly = () => system.sql<{ id: string }>("select id from claim_cases('wait', '{ann}', '{second}')");
  const second = await behind(still.databaseUrl, ['lock table queue in access exclusive mode'], claimDirectly, [
    ["select leave_case($1, $2, null, 'skipped')", [first.id, first.token]],
  ]);
  expect(second).toEqual([{ id: first.id === 'wait-1' ? 'wait-2' : 'wait-1' }]);
  const [before, after] = await system.sql<{ granted_at: Date; ended_at: Date }>(
    'select granted_at, ended_at from lease order by (token = $1) desc',
    [first.token],
  );
  expect(after?.granted_at.getTime()).toBeGreaterThanOrEqual(before?.ended_at.getTime() ?? Number.NaN);
});

test('S2.3 one claim from fifty devices of a person at once is one hold', async () => {
  await court(api, 'devices', {});
  await jurors(
    api,
    'devices',
    numbered(5).map((id) => ({ id, person: 'one' })),
  );
  await addCases(
    api,
    'devices',
    numbered(20, 'devices-').map((id) => ({ id, body: 1 })),
  );
  const answers = await Promise.all(repeat(50, (n) => claim(n % 2 ? api : other, 'devices', `j${n % 5}`)));
  expect(new Set(answers.map((a) => a.lease.token)).size).toBe(1);
});

test('S2.7 a vote at the very deadline either counts before it or comes too late, and the case is hung once', async () => {
  await court(api, 'edge', { votesToWin: 1 });
  await jurors(api, 'edge', numbered(30));
  await Promise.all(
    numbered(30).map(async (juror, n) => {
      await addCase(api, 'edge', {
        id: `edge-${n}`,
        deadlineSeconds: 1.5,
        parties: numbered(30)
          .filter((j) => j !== juror)
          .map((j) => ({ id: j })),
      });
    }),
  );
  const outcomes = await Promise.all(
    numbered(30).map(async (juror) => {
      const { id, token } = await claimed(api, 'edge', juror);
      const { deadlineAt } = await oneCase(api, id);
      await sleep(Math.max(0, Date.parse(deadlineAt) - Date.now() - 15 + Math.random() * 30));
      const { status, body } = await vote(api, id, token, 'buyer');
      if (status === 200) expect(body.case).toMatchObject({ state: 'decided', winner: 'buyer' });
      else expect(body).toMatchObject({ status: 409, code: 'not_open', state: 'hung' });
      return { id, state: status === 200 ? 'decided' : 'hung' };
    }),
  );
  for (const { id, state } of outcomes) {
    await eventually(async () => (await oneCase(api, id)).state !== 'open');
    expect((await oneCase(api, id)).state).toBe(state);
    const types = (await api.get(`/v1/cases/${id}/events`)).body.items.map((e: { type: string }) => e.type);
    expect(types.filter((type: string) => type === 'hung' || type === 'decided')).toEqual([state]);
  }
}, 60_000);

test('S2.3 a vote after invalidation is refused and not counted as wasted', async () => {
  await court(api, 'void', {});
  await jurors(api, 'void', ['ann']);
  const { id } = await addCase(api, 'void', { id: 'void' });
  const { token } = await claimed(api, 'void', 'ann');
  const ended = await Promise.all(
    repeat(10, () => api.post(`/v1/cases/${id}/invalidate`, { reason: 'sold elsewhere' })),
  );
  for (const { status, body } of ended) expect([status, body.state]).toEqual([200, 'invalidated']);
  expect((await vote(api, id, token, 'buyer')).body).toMatchObject({
    code: 'not_open',
    state: 'invalidated',
    reason: 'sold elsewhere',
  });
  expect(await oneCase(api, id)).toMatchObject({ wasted: 0, holds: 0 });
});

test('S2.3 the juror list is replaced while claims run: nobody is handed a case by half a list', async () => {
  await court(api, 'swaps', { votesToWin: 50, overbook: 900 });
  const lists = [numbered(50, 'even-'), numbered(50, 'odd-')] as const;
  const put = async (n: number) => {
    const all = lists[n % 2] ?? [];
    await jurors(api, 'swaps', all.slice(0, 25), { list: `list-${n}` });
    await jurors(api, 'swaps', all.slice(25), { list: `list-${n}`, final: true });
  };
  await put(0);
  await addCases(
    api,
    'swaps',
    numbered(20, 'swaps-').map((id) => ({ id, body: 1 })),
  );
  let running = true;
  const seen = { given: 0, refused: 0 };
  const claims = repeat(20, async (n) => {
    while (running) {
      const juror = lists[n % 2]?.[Math.floor(Math.random() * 50)] ?? '';
      const { case: given, lease, reasons } = await claim(n % 4 < 2 ? api : other, 'swaps', juror);
      if (!given) {
        expect(reasons.notEligible + reasons.voted).toBeGreaterThan(0);
        seen.refused++;
        continue;
      }
      seen.given++;
      const { status, body } = await vote(api, given.id, lease.token, 'buyer');
      if (status === 200) continue;
      // another claim of this juror ended the hold while they were not listed, and they are listed again
      if (status === 409) expect(body).toMatchObject({ code: 'lease_lost', reason: 'revoked' });
      else expect(body).toMatchObject({ status: 403, code: 'forbidden' });
    }
  });
  for (let n = 1; n < 12; n++) await put(n);
  running = false;
  await Promise.all(claims);
  expect(seen.given).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(0);
  // the last list is all there is
  for (const [n, list] of lists.entries())
    for (const juror of list) {
      const { reasons } = await claim(api, 'swaps', juror);
      if (n === 0) expect(reasons?.notEligible).toBeGreaterThan(0);
      else expect(reasons?.notEligible ?? 0).toBe(0);
    }
}, 90_000);
