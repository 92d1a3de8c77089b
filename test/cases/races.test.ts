import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, numbered, repeat } from '../support/client.ts';
import { behind } from '../support/database.ts';
import { startTestSystem, startTwoSystems, testStores } from '../support/system.ts';

const [{ api }, { api: other }] = await startTwoSystems();
const { addCase, addCases, claim, claimed, court, eventTypes, jurors, oneCase, openCourt, vote, votes } = api.cases;

test('S2.2 S2.5 votes at once with the deciding one: as many count as decide, and the rest are refused', async () => {
  await openCourt('both', { votesToWin: 2, overbook: 10 }, numbered(10), []);
  for (let round = 0; round < 10; round++) {
    const { id } = await addCase('both', { id: `both-${round}` });
    const held = await Promise.all(numbered(10).map((juror) => claimed('both', juror)));
    const answers = await Promise.all(
      held.map(({ token }, n) => (n % 2 ? api : other).cases.vote(id, token, n % 3 ? 'buyer' : 'seller')),
    );
    const counted = answers.filter((a) => a.status === 200);
    const { winner, tally, wasted } = await oneCase(id);
    expect(tally[winner]).toBe(2);
    expect(tally.buyer + tally.seller).toBe(counted.length);
    expect(await votes(id)).toHaveLength(counted.length);
    expect(wasted).toBe(10 - counted.length);
    for (const { status, body } of answers)
      if (status !== 200) expect(body).toMatchObject({ code: 'not_open', state: 'decided' });
  }
}, 60_000);

test('S2.2 the same vote from fifty callers at once is one vote, with one answer', async () => {
  await openCourt('fifty', { votesToWin: 2 }, ['ann', 'ben']);
  const { id, token } = await claimed('fifty', 'ann');
  const answers = await Promise.all(repeat(50, (n) => (n % 2 ? api : other).cases.vote(id, token, 'buyer')));
  for (const { status, body } of answers)
    expect({ status, counted: body.counted }).toEqual({ status: 200, counted: true });
  expect(await oneCase(id)).toMatchObject({ tally: { buyer: 1, seller: 0 } });
  // the same token with other content
  expect((await vote(id, token, 'seller')).body).toMatchObject({ code: 'lease_lost', reason: 'settled' });
});

test('S2.4 a hold that begins behind a wait begins after the end of the one before', async () => {
  // no clock runs here: the hold is ended by hand, while the juror's next claim is under way
  const still = await testStores();
  const system = await startTestSystem({ DOCKET_PACEMAKER: 'off' }, { role: 'api', stores: still });
  const on = system.api.cases;
  await on.openCourt('wait', {}, ['ann'], ['wait-1', 'wait-2']);
  const first = await on.claimed('wait', 'ann');
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
  const people = numbered(5).map((id) => ({ id, person: 'one' }));
  await openCourt('devices', {}, people, numbered(20, 'devices-'));
  const answers = await Promise.all(repeat(50, (n) => (n % 2 ? api : other).cases.claim('devices', `j${n % 5}`)));
  expect(new Set(answers.map((a) => a.lease.token)).size).toBe(1);
});

test('S2.7 a vote at the very deadline either counts before it or comes too late, and the case is hung once', async () => {
  await openCourt('edge', { votesToWin: 1 }, numbered(30), []);
  const all = numbered(30);
  const partiesFor = (juror: string) => all.filter((other) => other !== juror).map((id) => ({ id }));
  const cases = all.map((juror, n) => ({ id: `edge-${n}`, deadlineSeconds: 5, parties: partiesFor(juror) }));
  await Promise.all(cases.map((one) => addCase('edge', one)));
  const outcomes = await Promise.all(
    all.map(async (juror) => {
      const { id, token } = await claimed('edge', juror);
      const { deadlineAt } = await oneCase(id);
      await sleep(Math.max(0, Date.parse(deadlineAt) - Date.now() - 15 + Math.random() * 30));
      const { status, body } = await vote(id, token, 'buyer');
      if (status === 200) expect(body.case).toMatchObject({ state: 'decided', winner: 'buyer' });
      else expect(body).toMatchObject({ status: 409, code: 'not_open', state: 'hung' });
      return { id, state: status === 200 ? 'decided' : 'hung' };
    }),
  );
  for (const { id, state } of outcomes) {
    await eventually(async () => (await oneCase(id)).state !== 'open');
    expect((await oneCase(id)).state).toBe(state);
    const ends = (await eventTypes(id)).filter((type) => type === 'hung' || type === 'decided');
    expect(ends).toEqual([state]);
  }
}, 60_000);

test('S2.3 the juror list is replaced while claims run: nobody is handed a case by half a list', async () => {
  await court('swaps', { votesToWin: 50, overbook: 900 });
  const lists = [numbered(50, 'even-'), numbered(50, 'odd-')] as const;
  const put = async (n: number) => {
    const all = lists[n % 2] ?? [];
    await jurors('swaps', all.slice(0, 25), { list: `list-${n}` });
    await jurors('swaps', all.slice(25), { list: `list-${n}`, final: true });
  };
  await put(0);
  await addCases('swaps', numbered(20, 'swaps-'));
  let running = true;
  const seen = { given: 0, refused: 0 };
  const claims = repeat(20, async (n) => {
    while (running) {
      const juror = lists[n % 2]?.[Math.floor(Math.random() * 50)] ?? '';
      const { case: given, lease, reasons } = await (n % 4 < 2 ? api : other).cases.claim('swaps', juror);
      if (!given) {
        expect(reasons.notEligible + reasons.voted).toBeGreaterThan(0);
        seen.refused++;
        continue;
      }
      seen.given++;
      const { status, body } = await vote(given.id, lease.token, 'buyer');
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
      const { reasons } = await claim('swaps', juror);
      if (n === 0) expect(reasons?.notEligible).toBeGreaterThan(0);
      else expect(reasons?.notEligible ?? 0).toBe(0);
    }
}, 90_000);
