import { expect, test } from 'vitest';
import { addCase, claim, claimed, court, invitations, jurors, oneCase, vote } from '../support/cases.ts';
import { eventually, type Json, numbered } from '../support/client.ts';
import { startTestSystem, type TestSystem } from '../support/system.ts';

// Each clock must be able to do the whole job alone, as for tickets.
const systems: [string, TestSystem][] = [
  ['pacemaker', await startTestSystem({ DOCKET_PACEMAKER: 'on' })],
  ['durable timers alone', await startTestSystem({ DOCKET_PACEMAKER: 'off' })],
];
const SOON = 40_000;

const eventsOf = async ({ api }: TestSystem, id: string): Promise<Json[]> =>
  (await api.get(`/v1/cases/${id}/events?limit=500`)).body.items;

test.each(systems)('S2.5 %s: a hold that runs out gives its room to the next juror', async (_, system) => {
  const { api } = system;
  await court(api, 'ttl', { votesToWin: 1, leaseSeconds: 1 });
  await jurors(api, 'ttl', ['ann', 'ben']);
  const { id } = await addCase(api, 'ttl', { id: 'ttl' });
  const { token } = await claimed(api, 'ttl', 'ann');
  expect((await claim(api, 'ttl', 'ben')).reasons).toMatchObject({ noVotesLeft: 1 });
  await eventually(async () => (await claim(api, 'ttl', 'ben')).case, SOON);
  expect((await vote(api, id, token, 'buyer')).body).toMatchObject({ code: 'lease_lost', reason: 'expired' });
  expect((await eventsOf(system, id)).map((e) => e.type)).toEqual(['created', 'claimed', 'reclaimed', 'claimed']);
});

test.each(systems)('S2.7 %s: the deadline ends the case under its holders, once', async (_, system) => {
  const { api } = system;
  await court(api, 'dead', { deadlineSeconds: 1 });
  await jurors(api, 'dead', ['ann']);
  const { id } = await addCase(api, 'dead', { id: 'dead' });
  const { token } = await claimed(api, 'dead', 'ann');
  await eventually(async () => (await oneCase(api, id)).state === 'hung', SOON);
  expect((await vote(api, id, token, 'buyer')).body).toMatchObject({ code: 'not_open', state: 'hung' });
  expect(await oneCase(api, id)).toMatchObject({ holds: 0, wasted: 0 });
  expect((await eventsOf(system, id)).filter((e) => e.type === 'hung')).toHaveLength(1);
});

test.each(systems)(
  'S2.1 %s: an invitation not answered goes to another juror, until nobody is left',
  async (_, system) => {
    const { api } = system;
    await court(api, 'mute', { votesToWin: 1, mode: 'assign', assign: { jurors: 1, answerSeconds: 1 } });
    const all = numbered(3, 'mute-');
    await jurors(api, 'mute', all);
    const { id } = await addCase(api, 'mute', { id: 'mute' });
    await eventually(async () => (await eventsOf(system, id)).filter((e) => e.type === 'reclaimed').length === 3, SOON);
    const asked = (await eventsOf(system, id)).filter((e) => e.type === 'invited').map((e) => e.data.juror);
    expect(asked.sort()).toEqual(all);
    for (const juror of all) expect(await invitations(api, juror)).toEqual([]);
    // somebody new on the list is found by and by
    await jurors(api, 'mute', ['fresh']);
    await eventually(async () => (await invitations(api, 'fresh')).length === 1, SOON);
  },
);
