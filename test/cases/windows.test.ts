import { expect, test } from 'vitest';
import { eventually, numbered } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed } = await startTestSystem({}, { role: 'api' });
const { claim, claimed, court, judge, openCourt, release, stats, voted } = api.cases;

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
