import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, insist, type Json, numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { openStream } from '../support/stream.ts';
import { startTwoSystems } from '../support/system.ts';

const ROUNDS = byNight(10, 3);
const [{ api, keyed }, { api: other }] = await startTwoSystems();
const { addCase, addCases, claim, claimed, court, events, eventTypes, invitations, jurors, oneCase } = api.cases;
const { openCourt, stats, vote, voted, votes } = api.cases;

test('S2.2 S2.5 votes at once with the deciding one: as many count as decide, and the rest are refused', async () => {
  await openCourt('both', { votesToWin: 2, overbook: 10 }, numbered(10), []);
  for (let round = 0; round < ROUNDS; round++) {
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
  for (let n = 1; n < 2 * ROUNDS; n++) await put(n);
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

const patch = (id: string, change: object) => api.patch(`/v1/cases/${id}`, change);
const patched = async (id: string, change: object): Promise<Json> => insist(await patch(id, change), 'patch', 200);
const resolve = (id: string, winner: string | undefined, reason = 'refunded', server = api) =>
  server.post(`/v1/cases/${id}/resolve`, { winner, reason });
const partiesOf = (ids: string[]) => ids.map((id) => ({ id }));

test('S2.3 a holder who becomes a party loses the case with that change, the others are told that it changed', async () => {
  const people = ['ann', { id: 'ben', person: 'seller' }, 'cy', 'dan'];
  await openCourt('turned', { votesToWin: 3 }, people, []);
  await addCase('turned', { id: 'turned-1', parties: partiesOf(['buyer', 'dan']) });
  expect((await claim('turned', 'dan')).reasons).toMatchObject({ party: 1 });
  const [ann, ben] = [await openStream(api, 'juror=ann'), await openStream(other, 'juror=ben')];
  const [annHeld, benHeld] = [await claimed('turned', 'ann'), await claimed('turned', 'ben')];
  const before = await oneCase('turned-1');
  const parties = [{ id: 'buyer' }, { id: 'shop', person: 'seller' }];
  const after = await patched('turned-1', { parties, body: { claim: 'another' } });
  expect(after).toMatchObject({ state: 'open', holds: 1, parties, body: { claim: 'another' }, deadlineAt: null });
  expect(after.version).toBeGreaterThan(before.version);
  expect((await ben.first('lease_lost')).data).toMatchObject({ kind: 'case', id: 'turned-1', reason: 'revoked' });
  expect((await ann.first('changed')).data).toEqual({ kind: 'case', id: 'turned-1', version: after.version });
  expect(ben.events.map(({ event }) => event)).toEqual(['lease_lost']);
  expectProblem(await vote('turned-1', benHeld.token, 'buyer'), 'ben', 'conflict_of_interest');
  expect((await claim('turned', 'ben')).reasons).toMatchObject({ party: 1 });
  expect(await claim('turned', 'ann')).toMatchObject({ resumed: true, case: { body: { claim: 'another' } } });
  expect(await voted('turned-1', annHeld.token, 'buyer')).toMatchObject({ counted: true });
  // who is no party any more may judge it
  expect(await claimed('turned', 'dan')).toMatchObject({ id: 'turned-1' });
  const changed = (await events('turned-1')).find(({ type }) => type === 'changed');
  expect(changed).toMatchObject({ actor: 'anonymous', data: { changed: { parties, body: { claim: 'another' } } } });
});

test('S2.3 an invited juror who becomes a party is replaced by another one', async () => {
  const assign = { jurors: 1, answerSeconds: 600 };
  await openCourt('replaced', { votesToWin: 1, mode: 'assign', assign }, ['rep-1', 'rep-2']);
  const holder = () =>
    eventually(async () => {
      for (const id of ['rep-1', 'rep-2']) if ((await invitations(id)).length > 0) return id;
    });
  const first = await holder();
  await patched('replaced', { parties: partiesOf([first]) });
  expect(await invitations(first)).toEqual([]);
  expect(await holder()).not.toBe(first);
});

test('S2.3 fifty claim while half of them become parties: none of these holds the case afterwards', async () => {
  await openCourt('rush', { votesToWin: 100 }, numbered(50), []);
  const sides = numbered(50).filter((_, n) => n % 2 === 0);
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = await addCase('rush', { id: `rush-${round}` });
    const claiming = numbered(50).map((juror, n) => (n % 3 ? api : other).cases.claim('rush', juror));
    await Promise.race(claiming);
    const changing = patched(id, { parties: partiesOf(sides) });
    const answers = await Promise.all(claiming);
    await changing;
    const tokens = new Map(numbered(50).map((juror, n) => [juror, answers[n]?.lease?.token as string | undefined]));
    const held = [...tokens].filter(([juror, token]) => token && !sides.includes(juror));
    expect(await oneCase(id)).toMatchObject({ state: 'open', holds: held.length });
    for (const juror of sides) {
      const token = tokens.get(juror);
      if (token) expectProblem(await vote(id, token, 'buyer'), juror, 'conflict_of_interest');
    }
    for (const juror of sides) expect((await claim('rush', juror)).reasons, juror).toMatchObject({ party: 1 });
    await api.post(`/v1/cases/${id}/invalidate`, { reason: 'next' });
  }
}, 60_000);

test('S2.3 forty of fifty vote while half become parties: what came before counts, and no party holds the case after', async () => {
  await openCourt('swing', { votesToWin: 100 }, numbered(50), []);
  const sides = numbered(50).filter((_, n) => n % 2 === 0);
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = await addCase('swing', { id: `swing-${round}` });
    const held = await Promise.all(numbered(50).map((juror) => claimed('swing', juror)));
    const voting = held.slice(0, 40).map(({ token }, n) => (n % 3 ? api : other).cases.vote(id, token, 'buyer'));
    await Promise.race(voting);
    const changing = patched(id, { parties: partiesOf(sides) });
    const answers = await Promise.all(voting);
    await changing;
    const refused = answers.filter(({ status }) => status !== 200);
    for (const answer of refused) expectProblem(answer, id, 'conflict_of_interest');
    expect(refused.length).toBeLessThanOrEqual(20);
    const tally = { buyer: answers.length - refused.length, seller: 0 };
    expect(await oneCase(id)).toMatchObject({ state: 'open', holds: 5, tally });
    await api.post(`/v1/cases/${id}/invalidate`, { reason: 'next' });
  }
}, 60_000);

test('S2.7 a new deadline replaces that of the court, null takes it away, and it outlives new settings', async () => {
  await openCourt('later', { deadlineSeconds: 3600 }, []);
  const at = new Date(Date.now() + 7_200_000).toISOString();
  expect(await patched('later', { deadlineAt: at })).toMatchObject({ deadlineAt: at });
  expect(await patched('later', { deadlineAt: null })).toMatchObject({ deadlineAt: null });
  await court('later', { deadlineSeconds: 0 });
  await patched('later', { body: 1 });
  expect(await oneCase('later')).toMatchObject({ state: 'open', deadlineAt: null });
});

test('S2.2 what is final is not changed, and a change that is none is refused', async () => {
  await openCourt('final', {}, [], ['final-1', 'final-2']);
  await api.post('/v1/cases/final-1/invalidate', { reason: 'r' });
  const late = await patch('final-1', { body: 1 });
  expectProblem(late, 'final', 'not_open');
  expect(late.body).toMatchObject({ state: 'invalidated', reason: 'r' });
  expectProblem(await patch('nowhere', { parties: [] }), 'nowhere', 'not_found');
  const wrong = [{}, { court: 'x' }, { parties: 'x' }, { parties: [{}] }, { deadlineAt: 'soon' }, { parties: null }];
  for (const change of wrong) expectProblem(await patch('final-2', change), JSON.stringify(change), 'invalid_request');
  expect(await eventTypes('final-2')).toEqual(['created']);
});

test('S2.2 S2.6 an operator decides a case: holders are told, the callback is sent, a repeat has the same answer', async () => {
  const { callback, received } = await startReceiver();
  await openCourt('by-hand', { votesToWin: 2, callback }, ['ann', 'ben'], [{ id: 'by-hand-1' }]);
  await api.cases.judge('by-hand', 'ann', 'seller');
  const stream = await openStream(other, 'juror=ben');
  const { token } = await claimed('by-hand', 'ben');
  const olga = await keyed('producer', 'olga');
  const call = (winner: string, reason: string) => resolve('by-hand-1', winner, reason, olga);
  const wrong = await call('nobody', 'r');
  expectProblem(wrong, 'no option', 'invalid_request');
  expect(wrong.body.errors).toMatchObject([{ path: 'winner' }]);
  const decided = { state: 'decided', winner: 'buyer', tally: { buyer: 0, seller: 1 }, votesLeft: 0, holds: 0 };
  const first = await call('buyer', 'refunded');
  expect(first).toMatchObject({ status: 200, body: { ...decided, endReason: 'refunded' } });
  expect(await call('buyer', 'refunded')).toMatchObject({ status: 200, body: first.body });
  for (const [winner, reason] of Object.entries({ seller: 'refunded', buyer: 'another', nobody: 'r' }))
    expectProblem(await call(winner, reason), `${winner} ${reason}`, 'not_open');
  expectProblem(await resolve('by-hand-1', 'buyer'), 'somebody else', 'not_open');
  expect((await stream.first('lease_lost')).data).toMatchObject({ id: 'by-hand-1', reason: 'decided', by: 'olga' });
  expectProblem(await vote('by-hand-1', token, 'seller'), 'late', 'not_open');
  await eventually(async () => received.length > 0);
  expect(received.map(opened)).toMatchObject([{ type: 'case.decided', case: { ...decided, endReason: 'refunded' } }]);
  expect((await events('by-hand-1')).find(({ type }) => type === 'decided')).toMatchObject({ actor: 'olga' });
  expect(await stats('by-hand')).toMatchObject({ open: 0, decided: 1, completionRate: 1 });
  expectProblem(await resolve('nowhere', 'buyer'), 'nowhere', 'not_found');
});

test('S2.2 fifty decide a case at once, jurors and operators of two minds: it is decided once', async () => {
  await openCourt('torn', { votesToWin: 1, overbook: 20 }, numbered(10), []);
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = await addCase('torn', { id: `torn-${round}` });
    const held = await Promise.all(numbered(10).map((juror) => claimed('torn', juror)));
    const sides = ['buyer', 'seller'] as const;
    const [votes, calls] = await Promise.all([
      Promise.all(held.map(({ token }, n) => other.cases.vote(id, token, n % 2 ? 'buyer' : 'seller'))),
      Promise.all(repeat(40, (n) => resolve(id, sides[n % 2], 'r', n % 3 ? api : other))),
    ]);
    const { winner, tally } = await oneCase(id);
    const counted = votes.filter(({ status }) => status === 200).length;
    expect(tally.buyer + tally.seller).toBe(counted);
    const resolved = calls.filter(({ status }) => status === 200);
    // a repeat of the call that decided is answered as that was
    if (counted > 0) expect([counted, resolved.length]).toEqual([1, 0]);
    else expect(resolved.map(({ body }) => body.winner)).toEqual(Array(20).fill(winner));
    for (const { status, body } of [...votes, ...calls])
      if (status !== 200) expect([status, body.code]).toEqual([409, 'not_open']);
    expect((await eventTypes(id)).filter((type) => type === 'decided')).toHaveLength(1);
  }
});
