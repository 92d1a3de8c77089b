import { expect, test } from 'vitest';
import { eventually, numbered } from '../support/client.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

// Each clock must be able to do the whole job alone, as for tickets.
const clocked = async (pacemaker: string) => (await startTestSystem({ DOCKET_PACEMAKER: pacemaker })).api;
const systems = [
  ['pacemaker', await clocked('on')],
  ['durable timers alone', await clocked('off')],
] as const;
const SOON = 40_000;

test.each(systems)('S2.5 %s: a hold that runs out gives its room to the next juror', async (_, api) => {
  const { cases: on } = api;
  await on.openCourt('ttl', { votesToWin: 1, leaseSeconds: 6 }, ['ann', 'ben']);
  const stream = await openStream(api, 'juror=ann');
  const { token } = await on.claimed('ttl', 'ann');
  expect((await on.claim('ttl', 'ben')).reasons).toMatchObject({ noVotesLeft: 1 });
  await on.court('ttl', { votesToWin: 1 });
  await eventually(async () => (await on.claim('ttl', 'ben')).case, SOON);
  const { data } = await stream.first('lease_lost');
  expect(data).toMatchObject({ id: 'ttl', reason: 'expired', by: 'system' });
  expect((await on.vote('ttl', token, 'buyer')).body).toMatchObject({ code: 'lease_lost', reason: 'expired' });
  expect(await on.oneCase('ttl')).toMatchObject({ holds: 1, wasted: 0, tally: { buyer: 0, seller: 0 } });
  expect(await on.eventTypes('ttl')).toEqual(['created', 'claimed', 'reclaimed', 'claimed']);
});

test.each(systems)('S2.7 %s: the deadline ends the case under its holders, once', async (_, { cases: on }) => {
  const { callback, received } = await startReceiver();
  await on.openCourt('dead', { deadlineSeconds: 6, callback }, ['ann']);
  const { token } = await on.claimed('dead', 'ann');
  await eventually(async () => (await on.oneCase('dead')).state === 'hung', SOON);
  expect((await on.vote('dead', token, 'buyer')).body).toMatchObject({ code: 'not_open', state: 'hung' });
  expect(await on.oneCase('dead')).toMatchObject({ holds: 0, wasted: 0 });
  expect((await on.eventTypes('dead')).filter((type) => type === 'hung')).toHaveLength(1);
  expect(await on.stats('dead')).toMatchObject({ open: 0, hung: 1, completionRate: 0 });
  await eventually(async () => received.length === 1);
  expect(received.map(opened)).toMatchObject([
    { type: 'case.hung', case: { id: 'dead', state: 'hung', winner: null } },
  ]);
});

test.concurrent.each(systems)(
  'S2.1 %s: an invitation not answered goes to another juror, until nobody is left',
  async (_, { cases: on }) => {
    const all = numbered(3, 'mute-');
    await on.openCourt('mute', { votesToWin: 1, mode: 'assign', assign: { jurors: 1, answerSeconds: 1 } }, all);
    const of = async (type: string) => (await on.events('mute')).filter((e) => e.type === type);
    await eventually(async () => (await of('reclaimed')).length === 3, SOON);
    expect((await of('invited')).map((e) => e.data.juror).sort()).toEqual(all);
    for (const juror of all) expect(await on.invitations(juror)).toEqual([]);
    // somebody new on the list is found by and by
    await on.jurors('mute', ['fresh']);
    await eventually(async () => (await on.invitations('fresh')).length === 1, SOON);
  },
);

test.concurrent.each(systems)(
  'S2.7 %s: a deadline that is brought forward ends the case under its holders',
  async (_, api) => {
    const { cases: on } = api;
    await on.openCourt('sooner', { deadlineSeconds: 3600 }, ['ann']);
    const { token } = await on.claimed('sooner', 'ann');
    const deadlineAt = new Date(Date.now() + 3_000).toISOString();
    expect((await api.patch('/v1/cases/sooner', { deadlineAt })).body).toMatchObject({ state: 'open', deadlineAt });
    await eventually(async () => (await on.oneCase('sooner')).state === 'hung', SOON);
    expect((await on.vote('sooner', token, 'buyer')).body).toMatchObject({ code: 'not_open', state: 'hung' });
  },
);
