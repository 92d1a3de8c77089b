import { expect, test } from 'vitest';
import { addCases, claim, claimed, court, jurors, stats, voted } from '../support/cases.ts';
import { numbered } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem({}, { role: 'api' });

const open = async (name: string, n: number) => {
  await addCases(
    api,
    name,
    Array.from({ length: n }, (_, i) => ({ id: `${name}-${i}`, body: i })),
  );
};

/** Claims and gives back, so many times, as the accounts in turn. Returns how often each case was shown. */
async function refresh(name: string, accounts: string[], times: number): Promise<Map<string, number>> {
  const shown = new Map<string, number>();
  for (let n = 0; n < times; n++) {
    const { id, token } = await claimed(api, name, accounts[n % accounts.length] ?? '');
    shown.set(id, (shown.get(id) ?? 0) + 1);
    expect((await api.post(`/v1/cases/${id}/release`, { token })).status).toBe(200);
  }
  return shown;
}

test.each([
  [1000, 'random'],
  [200, 'oldest'],
  [200, 'closest'],
])(
  'S2.4 who refreshes %d times in a window sees at most m cases, each about as often (pick: %s)',
  async (times, pick) => {
    await court(api, pick, { window: { cases: 5, seconds: 3600 }, strategy: { pick } });
    await jurors(api, pick, ['ren']);
    await open(pick, 60);
    const shown = await refresh(pick, ['ren'], times);
    expect(shown.size).toBe(5);
    // a fifth each, with a standard deviation of 13 for a thousand: six of them
    const most = 6 * Math.sqrt(times * 0.2 * 0.8);
    for (const often of shown.values()) expect(Math.abs(often - times / 5)).toBeLessThan(most);
  },
  120_000,
);

test('S2.3 S2.4 eight accounts of one person have one window, one hold and one vote', async () => {
  await court(api, 'eight', { window: { cases: 3, seconds: 3600 } });
  const accounts = numbered(8, 'alt-');
  await jurors(api, 'eight', [...accounts.map((id) => ({ id, person: 'one' })), 'other']);
  await open('eight', 40);
  // at once, from all of them: one hold
  const held = await Promise.all(accounts.map((juror) => claim(api, 'eight', juror)));
  expect(new Set(held.map((h) => h.case.id)).size).toBe(1);
  expect(new Set(held.map((h) => h.lease.token)).size).toBe(1);
  expect(held.filter((h) => !h.resumed)).toHaveLength(1);
  const [{ case: first, lease }] = held as [(typeof held)[0]];
  expect((await api.post(`/v1/cases/${first.id}/release`, { token: lease.token })).status).toBe(200);
  const shown = await refresh('eight', accounts, 200);
  expect(shown.size).toBe(3);
  const judged = new Set<string>();
  for (const juror of accounts) {
    const { case: given, lease: mine, reasons } = await claim(api, 'eight', juror);
    if (given) {
      expect(judged).not.toContain(given.id);
      judged.add(given.id);
      await voted(api, given.id, mine.token, 'buyer');
    } else expect(reasons).toMatchObject({ voted: 3, windowFull: 40 });
  }
  expect([...judged].sort()).toEqual([...shown.keys()].sort());
  expect(await stats(api, 'eight')).toMatchObject({ votes: 3, windowHits: 5 });
  // somebody else has a window of his own
  expect((await claim(api, 'eight', 'other')).case).not.toBeNull();
}, 60_000);

test('S2.4 a window rolls: a case counts from its first showing, for so many seconds', async () => {
  await court(api, 'rolls', { window: { cases: 1, seconds: 2 } });
  await jurors(api, 'rolls', ['ren']);
  await open('rolls', 50);
  const { id, token } = await claimed(api, 'rolls', 'ren');
  await voted(api, id, token, 'buyer');
  expect((await claim(api, 'rolls', 'ren')).reasons.windowFull).toBe(50);
  await expect.poll(async () => (await claim(api, 'rolls', 'ren')).case, { timeout: 20_000 }).not.toBeNull();
}, 30_000);
