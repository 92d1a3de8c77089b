import { expect, test } from 'vitest';
import { dice, eventually, insist, type Json, numbered } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed } = await startTestSystem({}, { role: 'api' });
const { addCase, addCases, claim, claimed, court, judge, jurors, openCourt, release, stats, voted } = api.cases;

const explain = async (name: string, juror: string, id?: string): Promise<Json> =>
  insist(await api.post(`/v1/courts/${name}/explain`, { juror, ...(id && { case: id }) }), 'explain', 200);
const why = async (name: string, juror: string, id: string): Promise<string[]> => (await explain(name, juror, id)).why;
const OLDEST = { strategy: { pick: 'oldest' } };

test('S2.1 explain of a case names everything that keeps a juror from it, and how many go before it', async () => {
  const settings = { ...OLDEST, votesToWin: 2, window: { cases: 2, seconds: 3_600 }, votesPerDay: 3 };
  const people = [
    { id: 'anna' },
    { id: 'ann2', person: 'anna' },
    'ben',
    'carl',
    { id: 'dora', invite: false },
    'off',
    'skip',
  ];
  await openCourt('named', { ...settings, window: null }, people, ['n1', 'n2', 'n3']);
  await jurors('named', [{ id: 'off', eligible: false }]);
  await addCase('named', { id: 'n-anna', parties: [{ id: 'anna' }] });
  expect(await explain('named', 'ben', 'n1')).toEqual({ offered: true, why: [], ahead: 0 });
  expect(await explain('named', 'ben', 'n-anna')).toEqual({ offered: true, why: [], ahead: 3 });
  expect(await explain('named', 'ann2', 'n-anna')).toEqual({ offered: false, why: ['party'], ahead: 3 });
  expect(await why('named', 'off', 'n1')).toEqual(['notEligible']);
  expect(await why('named', 'stranger', 'n-anna')).toEqual(['notEligible']);

  const held = await claimed('named', 'anna');
  expect([held.id, await why('named', 'anna', 'n1')]).toEqual(['n1', ['heldByYou']]);
  expect(await why('named', 'ann2', 'n2')).toEqual(['holdsAnother']);
  expect(await why('named', 'ann2', 'n-anna')).toEqual(['holdsAnother', 'party']);
  await claimed('named', 'ben');
  expect(await why('named', 'carl', 'n1')).toEqual(['noVotesLeft']);
  await voted('n1', held.token, 'buyer');
  expect(await why('named', 'ann2', 'n1')).toEqual(['voted', 'noVotesLeft']);
  const skipped = await claimed('named', 'skip');
  insist(await api.post(`/v1/cases/n2/release`, { token: skipped.token, skip: true }), 'skip', 200);
  expect(await why('named', 'skip', 'n2')).toEqual(['skipped']);
  expect(await explain('named', 'skip', 'n3')).toEqual({ offered: true, why: [], ahead: 0 });

  await court('named', settings);
  for (const juror of ['carl', 'carl']) await judge('named', juror, 'buyer');
  expect(await why('named', 'carl', 'n-anna')).toEqual(['windowFull']);
  await court('named', { ...settings, votesPerDay: 2, mode: 'assign', assign: { jurors: 1, answerSeconds: 600 } });
  expect(await why('named', 'carl', 'n-anna')).toEqual(['assigned', 'fatigue', 'windowFull']);
  await api.post('/v1/cases/n3/invalidate', { reason: 'over' });
  expect(await why('named', 'dora', 'n3')).toEqual(['invalidated', 'assigned']);
  await court('elsewhere', {});
  expect(await why('elsewhere', 'dora', 'n3')).toEqual(['invalidated', 'otherCourt', 'assigned']);
  expectProblem(await api.post('/v1/courts/named/explain', { juror: 'dora', case: 'none' }), 'case', 'not_found');
  expectProblem(await api.post('/v1/courts/none/explain', { juror: 'dora' }), 'court', 'not_found');
});

test('S2.1 whatever jurors do, explain says what a claim then gives, and counts the reasons that an empty one has', async () => {
  const roll = dice(7);
  const people = numbered(6, 'p');
  const accounts = people.flatMap((person) => [person, { id: `${person}-2`, person }]);
  const settings = { ...OLDEST, votesToWin: 2, votesPerDay: 6 };
  await openCourt('model', settings, [...accounts, { id: 'out', eligible: false }], []);
  await addCases(
    'model',
    numbered(12, 'm').map((id) => ({ id, parties: roll(3) === 0 ? [{ id: `p${roll(6)}` }] : [] })),
  );
  const ids = numbered(12, 'm');
  for (let step = 0; step < 60; step++) {
    const juror = roll(12) === 0 ? 'out' : `p${roll(6)}${roll(2) ? '-2' : ''}`;
    const before = await Promise.all(ids.map(async (id) => ({ id, ...(await explain('model', juror, id)) })));
    const { reasons } = await explain('model', juror);
    const answer = await claim('model', juror);
    const next = before.filter(({ offered, ahead }) => offered && ahead === 0).map(({ id }) => id);
    const offered = before.filter((one) => one.offered);
    if (answer.resumed) expect(before.find(({ id }) => id === answer.case.id)?.why).toEqual(['heldByYou']);
    else if (answer.case) expect(next).toEqual([answer.case.id]);
    else expect([offered, reasons]).toEqual([[], answer.reasons]);
    expect(offered.map(({ ahead }) => ahead)).toEqual(offered.map((_, n) => n));
    if (!answer.case) continue;
    if (roll(3) === 0) await release(answer.case.id, answer.lease.token);
    else if (roll(3) > 0) await voted(answer.case.id, answer.lease.token, 'buyer');
  }
});

test('S2.4 where all places of a window are taken, explain counts what its claim says, also while a shown case can be had again', async () => {
  await openCourt('window', { ...OLDEST, votesToWin: 3, window: { cases: 1, seconds: 3_600 } }, numbered(3), [
    'w1',
    'w2',
  ]);
  const { id, token } = await claimed('window', 'j0');
  await release(id, token);
  expect((await explain('window', 'j0')).reasons).toMatchObject({ windowFull: 0, none: 1 });
  await judge('window', 'j0', 'buyer');
  const { reasons } = await claim('window', 'j0');
  expect(reasons).toMatchObject({ windowFull: 2, voted: 1 });
  expect(await explain('window', 'j0')).toEqual({ reasons });
});

test('S2.8 explain says nothing by which a juror could tell gold from other cases', async () => {
  const key = await keyed('reviewer', 'nora');
  const rules = { ...OLDEST, votesToWin: 1, goldShare: 1, strategy: { admit: 'proven', pick: 'oldest' } };
  await openCourt('hidden', rules, ['nora'], ['real']);
  insist(await api.put('/v1/courts/hidden/gold', { cases: [{ id: 'gold', body: 1, answer: 'buyer' }] }), 'gold', 200);
  const asked = async (more: object) => (await key.post('/v1/courts/hidden/explain', more)).body;
  // a newcomer gets gold only, which is not told
  expect((await asked({})).reasons).toMatchObject({ notEligible: 0 });
  const { case: given, lease } = await key.cases.claimOwn('hidden');
  expect(given.id).toBe('gold');
  expect((await asked({ case: 'gold' })).why).toEqual(['heldByYou']);
  await key.cases.voted('gold', lease.token, 'buyer');
  expect([(await key.get('/v1/cases/gold')).body.state, (await asked({ case: 'gold' })).why]).toEqual([
    ...['decided', ['decided', 'voted']],
  ]);
});

test('S2.1 a juror’s key learns of cases that were handed to them only', async () => {
  const [ina, jon] = [await keyed('reviewer', 'ina'), await keyed('reviewer', 'jon')];
  await openCourt('known', { ...OLDEST, votesToWin: 1 }, ['ina', 'jon'], ['k1', 'k2']);
  const ask = (key: typeof ina, more: object) => key.post('/v1/courts/known/explain', more);
  await ina.cases.claimOwn('known');
  expect((await ask(ina, { case: 'k1' })).body).toEqual({ offered: false, why: ['heldByYou'], ahead: 0 });
  for (const id of ['k2', 'none']) expectProblem(await ask(ina, { case: id }), id, 'not_found');
  expectProblem(await ask(jon, { case: 'k1' }), 'k1', 'not_found');
  expectProblem(await ask(jon, { juror: 'ina' }), 'another', 'forbidden');
  expect((await ask(jon, {})).body.reasons).toMatchObject({ noVotesLeft: 1, none: 0 });
});

/** Claims and gives back, so many times, as the accounts in turn. Returns how often each case was shown. */
async function refresh(name: string, accounts: string[], times: number): Promise<Map<string, number>> {
  const shown = new Map<string, number>();
  for (let n = 0; n < times; n++) {
    const { id, token } = await claimed(name, accounts[n % accounts.length] ?? '');
    shown.set(id, (shown.get(id) ?? 0) + 1);
    await release(id, token);
  }
  return shown;
}

test.each([
  [byNight(1_000, 300), 'random'],
  [200, 'oldest'],
  [200, 'closest'],
])(
  'S2.4 who refreshes %d times in a window sees at most m cases, each about as often (pick: %s)',
  async (times, pick) => {
    await openCourt(
      pick,
      { window: { cases: 5, seconds: 3600 }, strategy: { pick } },
      ['ren'],
      numbered(60, `${pick}-`),
    );
    const shown = await refresh(pick, ['ren'], times);
    expect(shown.size).toBe(5);
    // a fifth each, with a standard deviation of 13 for a thousand: six of them
    const most = 6 * Math.sqrt(times * 0.2 * 0.8);
    for (const often of shown.values()) expect(Math.abs(often - times / 5)).toBeLessThan(most);
  },
  120_000,
);

test('S2.3 S2.4 eight accounts of one person have one window, one hold and one vote', async () => {
  const accounts = numbered(8, 'alt-');
  const people = [...accounts.map((id) => ({ id, person: 'one' })), 'other'];
  await openCourt('eight', { window: { cases: 3, seconds: 3600 } }, people, numbered(40, 'eight-'));
  // at once, from all of them: one hold
  const held = await Promise.all(accounts.map((juror) => claim('eight', juror)));
  expect(new Set(held.map((h) => h.case.id)).size).toBe(1);
  expect(new Set(held.map((h) => h.lease.token)).size).toBe(1);
  expect(held.filter((h) => !h.resumed)).toHaveLength(1);
  const [{ case: first, lease }] = held as [(typeof held)[0]];
  await release(first.id, lease.token);
  const shown = await refresh('eight', accounts, 200);
  expect(shown.size).toBe(3);
  const judged = new Set<string>();
  for (const juror of accounts) {
    const { case: given, lease: mine, reasons } = await claim('eight', juror);
    if (given) {
      expect(judged).not.toContain(given.id);
      judged.add(given.id);
      await voted(given.id, mine.token, 'buyer');
    } else expect(reasons).toMatchObject({ voted: 3, windowFull: 40 });
  }
  expect([...judged].sort()).toEqual([...shown.keys()].sort());
  expect(await stats('eight')).toMatchObject({ votes: 3, windowHits: 5 });
  // somebody else has a window of his own
  expect((await claim('eight', 'other')).case).not.toBeNull();
}, 60_000);

test('S2.4 a window rolls: a case counts from its first showing, for so many seconds', async () => {
  await openCourt('rolls', { window: { cases: 1, seconds: 2 } }, ['ren'], numbered(50, 'rolls-'));
  await judge('rolls', 'ren', 'buyer');
  expect((await claim('rolls', 'ren')).reasons.windowFull).toBe(50);
  await eventually(async () => (await claim('rolls', 'ren')).case);
});

const limits = async (name: string, juror: string) => (await api.get(`/v1/courts/${name}/jurors/${juror}`)).body;

test('S2.4 S2.10 a juror sees what is left of the window and of the day, over all their accounts', async () => {
  const people = [{ id: 'ben', person: 'anna' }, 'anna', 'rita'];
  const rules = { window: { cases: 3, seconds: 3600 }, votesPerDay: 2 };
  await openCourt('limits', rules, people, numbered(5, 'limits-'));
  const [window, day] = [
    { cases: 3, shown: 0, left: 3, freesAt: null },
    { votes: 0, limit: 2, left: 2 },
  ];
  expect(await limits('limits', 'ben')).toMatchObject({ id: 'ben', eligible: true, window, day });
  await judge('limits', 'anna', 'buyer');
  const after = await limits('limits', 'ben');
  expect(after).toMatchObject({ window: { shown: 1, left: 2 }, day: { votes: 1, left: 1 } });
  expect(Date.parse(after.window.freesAt)).toBeGreaterThan(Date.now());
  expect(after.day.endsAt).toMatch(/T00:00:00\.000Z$/);
  expect(await limits('limits', 'rita')).toMatchObject({ window: { shown: 0 }, day: { votes: 0 } });
  expect(await limits('limits', 'stranger')).toMatchObject({ eligible: false });
});

test('S2.10 a court without limits says so, and a key that is bound to a juror sees its own only', async () => {
  await openCourt('free', {}, ['anna'], []);
  expect(await limits('free', 'anna')).toEqual({ id: 'anna', eligible: true, window: null, day: null });
  expect((await api.get('/v1/courts/nowhere/jurors/anna')).status).toBe(404);
  const anna = await keyed('reviewer', 'anna');
  expect((await anna.get('/v1/courts/free/jurors/anna')).status).toBe(200);
  expect((await anna.get('/v1/courts/free/jurors/ben')).status).toBe(403);
});

test('S2.10 a day is that of the time zone of the court, for votes as for the limits that a juror sees', async () => {
  // their dates always differ, whatever the time is
  const [west, east] = ['Etc/GMT+12', 'Etc/GMT-14'];
  const rules = (timezone: string) => ({ votesToWin: 9, votesPerDay: 1, timezone });
  await openCourt('zones', rules(west), ['anna'], numbered(3, 'zones-'));
  await judge('zones', 'anna', 'buyer');
  expect((await claim('zones', 'anna')).reasons.fatigue).toBe(3);
  expect((await limits('zones', 'anna')).day).toMatchObject({
    votes: 1,
    endsAt: expect.stringMatching(/T12:00:00\.000Z$/),
  });
  expect(await court('zones', rules(east))).toMatchObject({ timezone: east });
  expect((await limits('zones', 'anna')).day).toMatchObject({
    votes: 0,
    endsAt: expect.stringMatching(/T10:00:00\.000Z$/),
  });
  await judge('zones', 'anna', 'buyer');
  expect((await claim('zones', 'anna')).reasons.fatigue).toBe(3);
  await court('zones', rules(west));
  expect((await limits('zones', 'anna')).day).toMatchObject({ votes: 1, left: 0 });

  expect(await court('midnight', { timezone: 'asia/shanghai', votesPerDay: 1 })).toMatchObject({
    timezone: 'Asia/Shanghai',
  });
  expect((await limits('midnight', 'anna')).day.endsAt).toMatch(/T16:00:00\.000Z$/);
  expect(await court('midnight', {})).toMatchObject({ timezone: 'UTC' });
  for (const timezone of ['Mars/Olympus', '+08:00', '', 8]) {
    const refused = await api.put('/v1/courts/midnight', { timezone });
    expectProblem(refused, String(timezone), 'invalid_request');
    expect(refused.body.errors).toMatchObject([{ path: 'timezone' }]);
  }
});
