import { expect, test } from 'vitest';
import {
  addCase,
  claim,
  claimed,
  court,
  invitations,
  jurors,
  oneCase,
  stats,
  vote,
  voted,
  votes,
} from '../support/cases.ts';
import { eventually, type Json, numbered, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const events = async (id: string): Promise<string[]> =>
  (await api.get(`/v1/cases/${id}/events?limit=500`)).body.items.map((e: Json) => e.type);

test('S2.2 the first side to votesToWin wins, in the same transaction as the vote', async () => {
  await court(api, 'first', { votesToWin: 2, overbook: 1 });
  await jurors(api, 'first', numbered(4));
  const sent = { id: 'f1', parties: [{ id: 'anna' }], body: { about: 'a shoe' } };
  expect(await addCase(api, 'first', sent)).toMatchObject({
    ...sent,
    ...{ court: 'first', state: 'open', tally: { buyer: 0, seller: 0 }, votesLeft: 2, winner: null },
    ...{ holds: 0, wasted: 0, deadlineAt: null, decidedAt: null },
  });
  const held = [];
  for (const juror of numbered(3)) held.push(await claimed(api, 'first', juror));
  expect((await claim(api, 'first', 'j3')).reasons).toMatchObject({ noVotesLeft: 1, none: 0 });
  expect(await voted(api, 'f1', held[0]?.token ?? '', 'seller')).toMatchObject({
    counted: true,
    case: { state: 'open', tally: { buyer: 0, seller: 1 }, votesLeft: 1, holds: 2 },
  });
  const decided = await voted(api, 'f1', held[1]?.token ?? '', 'seller');
  expect(decided).toMatchObject({
    counted: true,
    case: { state: 'decided', winner: 'seller', votesLeft: 0, holds: 0 },
  });
  expectProblem(await vote(api, 'f1', held[2]?.token ?? '', 'buyer'), 'late', 'not_open');
  expectProblem(await vote(api, 'f1', held[2]?.token ?? '', 'buyer'), 'late', 'not_open');
  expect(await voted(api, 'f1', held[1]?.token ?? '', 'seller')).toMatchObject({ counted: true });
  expect(await oneCase(api, 'f1')).toMatchObject({ state: 'decided', wasted: 1, tally: { buyer: 0, seller: 2 } });
  expect(await votes(api, 'f1')).toMatchObject([
    { juror: 'j1', option: 'seller', comment: null, counted: true },
    { juror: 'j0', option: 'seller', comment: null, counted: true },
  ]);
  const pages = await walk(api, '/v1/cases/f1/votes', 1);
  expect(pages.map((v) => v.juror)).toEqual(['j1', 'j0']);
  expect(await stats(api, 'first')).toMatchObject({
    open: 0,
    decided: 1,
    hung: 0,
    completionRate: 1,
    votes: 2,
    wasted: 1,
  });
  expect(await events('f1')).toEqual([
    'created',
    'claimed',
    'claimed',
    'claimed',
    'voted',
    'voted',
    'decided',
    'refused',
  ]);
});

test('S2.1 S2.5 the system invites as many as the case needs, and replaces who declines or stays silent', async () => {
  const { callback, received } = await startReceiver();
  await court(api, 'asked', { votesToWin: 2, mode: 'assign', assign: { jurors: 3, answerSeconds: 1.5 }, callback });
  await jurors(api, 'asked', [...numbered(8), { id: 'never', invite: false }]);
  await addCase(api, 'asked', { id: 'a1' });
  const open = async () => {
    const all = await Promise.all(numbered(8).map(async (j) => [j, (await invitations(api, j))[0]] as const));
    return all.filter(([, one]) => one !== undefined);
  };
  const two = (unlike: (juror: string) => boolean = () => false) =>
    eventually(async () => {
      const all = await open();
      return all.length === 2 && !all.some(([juror]) => unlike(juror)) ? all : null;
    });
  // as many as can change it, not three
  const first = await two();
  const [[declining, invitation] = ['', undefined]] = first;
  expect((await api.post('/v1/cases/a1/decline', { token: invitation.token })).status).toBe(200);
  const second = await two();
  expect(second.map(([j]) => j)).not.toContain(declining);
  // who stays silent isn't asked again
  const asked = new Set([...first, ...second].map(([j]) => j));
  const third = await two((juror) => asked.has(juror));
  for (const [, one] of third) await voted(api, 'a1', one.token, 'buyer');
  expect(await oneCase(api, 'a1')).toMatchObject({ state: 'decided', winner: 'buyer' });
  await eventually(async () => received.length === 1);
  expect(received.map(opened)).toMatchObject([{ type: 'case.decided', case: { id: 'a1', winner: 'buyer' } }]);
});

test('S2.7 a case not decided by its deadline is hung, and its producer is told', async () => {
  const { callback, received } = await startReceiver();
  await court(api, 'late', { callback });
  await jurors(api, 'late', ['j0']);
  await addCase(api, 'late', { id: 'h1', deadlineSeconds: 0.5 });
  await claimed(api, 'late', 'j0');
  await eventually(async () => received.length === 1);
  expect(received.map(opened)).toMatchObject([{ type: 'case.hung', case: { id: 'h1', state: 'hung', winner: null } }]);
  expect(await stats(api, 'late')).toMatchObject({ open: 0, hung: 1, completionRate: 0 });
});

test('S2.2 options may have names that every object has', async () => {
  const options = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
  await court(api, 'names', { options, votesToWin: 2 });
  await jurors(api, 'names', numbered(8));
  const [first, second, ...rest] = numbered(8);
  for (const [n, option] of options.entries()) {
    const id = `names-${n}`;
    await addCase(api, 'names', { id });
    const jurorsOf = [first, second, ...rest];
    const answers = [];
    for (const juror of jurorsOf.slice(2 * n, 2 * n + 2)) {
      const { token } = await claimed(api, 'names', juror ?? '');
      answers.push((await voted(api, id, token, option)).case);
    }
    expect(Object.entries(answers[0].tally), option).toEqual(options.map((o) => [o, o === option ? 1 : 0]));
    expect(answers[1], option).toMatchObject({ state: 'decided', winner: option });
  }
  expect((await api.put('/v1/courts/names', { options, votesToWin: 1, dryRun: true })).status).toBe(200);
  expect(await stats(api, 'names')).toMatchObject({ decided: 4, kappa: 1 });
});
