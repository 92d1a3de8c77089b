import { expect, test } from 'vitest';
import { addCase, addCases, claim, claimed, court, jurors, oneCase, vote, voted } from '../support/cases.ts';
import { numbered, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem({}, { role: 'api' });

/** Those whom the court hands something. They give it back. */
async function admitted(name: string, all: string[]): Promise<string[]> {
  const handed = [];
  for (const juror of all) {
    const { case: found, lease, reasons } = await claim(api, name, juror);
    if (found === null) {
      expect(reasons.notEligible, juror).toBeGreaterThan(0);
      continue;
    }
    handed.push(juror);
    await api.post(`/v1/cases/${found.id}/release`, { token: lease.token });
  }
  return handed;
}

test('S2.3 jurors are added and changed one by one, and counted', async () => {
  await court(api, 'upserts');
  await addCase(api, 'upserts', { id: 'upserts-1' });
  expect(await jurors(api, 'upserts', ['a', 'b'])).toEqual({ total: 2 });
  expect(await jurors(api, 'upserts', ['b', 'c', { id: 'd', eligible: false }])).toEqual({ total: 4 });
  expect(await admitted('upserts', ['a', 'b', 'c', 'd', 'e'])).toEqual(['a', 'b', 'c']);
  expect(
    await jurors(api, 'upserts', [{ id: 'd' }, { id: 'a', eligible: true }, { id: 'a', eligible: false }]),
  ).toEqual({
    total: 4,
  });
  expect(await admitted('upserts', ['a', 'b', 'c', 'd'])).toEqual(['b', 'c', 'd']);
});

test('S2.3 a list that comes in chunks shows nothing before its last one, and replaces the old list at once', async () => {
  await court(api, 'chunks', { votesToWin: 100 });
  await addCase(api, 'chunks');
  expect(await jurors(api, 'chunks', ['old', 'stays'])).toEqual({ total: 2 });
  const chunk = (all: (string | object)[], final = false, list = '2025-01-02') =>
    jurors(api, 'chunks', all, { list, final });
  expect(await chunk([...numbered(50), { id: 'stays', eligible: false }])).toEqual({ total: 51 });
  expect(await chunk(numbered(100))).toEqual({ total: 101 });
  // another list half way, and a change of the list of today: neither gets into the other
  expect(await chunk(['other'], false, 'other')).toEqual({ total: 1 });
  expect(await jurors(api, 'chunks', ['today'])).toEqual({ total: 3 });
  const all = ['old', 'stays', 'today', 'other', 'j0', 'j99', 'last'];
  expect(await admitted('chunks', all)).toEqual(['old', 'stays', 'today']);
  expect(await chunk(['last', 'stays'], true)).toEqual({ total: 102 });
  expect(await admitted('chunks', all)).toEqual(['stays', 'j0', 'j99', 'last']);
});

test('S2.3 the last chunk sent again, also by 50 at once, leaves the list as it is; a list in one chunk is brought anew', async () => {
  await court(api, 'again', { votesToWin: 100 });
  await addCase(api, 'again');
  const chunk = (all: (string | object)[], more: object = {}) => jurors(api, 'again', all, { list: 'daily', ...more });
  const finals = (n: number) => Promise.all(repeat(n, () => chunk(['last'], { final: true })));
  await chunk(numbered(50));
  expect(new Set((await finals(50)).map(({ total }) => total))).toEqual(new Set([51]));
  expect(await finals(2)).toEqual([{ total: 51 }, { total: 51 }]);
  expect(await admitted('again', ['j0', 'j49', 'last'])).toEqual(['j0', 'j49', 'last']);
  // said to be all there is, or another one
  expect(await chunk(['last'], { final: true, first: true })).toEqual({ total: 1 });
  expect(await chunk(['other'], { final: true })).toEqual({ total: 1 });
  expect(await admitted('again', ['j0', 'last', 'other'])).toEqual(['other']);
  // the next day's, with a part of its own before the same last one
  await chunk(numbered(3));
  expect(await chunk(['other'], { final: true })).toEqual({ total: 4 });
  // one chunk is the whole list: what was changed meanwhile is as the list says
  await chunk(['a', 'b'], { final: true });
  await jurors(api, 'again', [{ id: 'b', eligible: false }]);
  expect(await chunk(['a', 'b'], { final: true })).toEqual({ total: 2 });
  expect(await admitted('again', ['a', 'b'])).toEqual(['a', 'b']);
});

test('S2.3 whom a new list leaves out keeps nothing: neither a new case nor the vote on the held one', async () => {
  await court(api, 'left-out', { votesToWin: 3 });
  await addCase(api, 'left-out', { id: 'left-out-1' });
  await jurors(api, 'left-out', ['gone', 'stays', 'voted']);
  await voted(api, 'left-out-1', (await claimed(api, 'left-out', 'voted')).token, 'buyer');
  const gone = await claimed(api, 'left-out', 'gone');
  const stays = await claimed(api, 'left-out', 'stays');
  expect(await jurors(api, 'left-out', ['stays', 'new'], { list: 'b', final: true })).toEqual({ total: 2 });
  expectProblem(await vote(api, 'left-out-1', gone.token, 'buyer'), 'gone', 'forbidden');
  expect((await claim(api, 'left-out', 'gone')).reasons).toMatchObject({ notEligible: 1 });
  expect(await voted(api, 'left-out-1', stays.token, 'buyer')).toMatchObject({ counted: true });
  // votes that were counted stay counted
  expect(await oneCase(api, 'left-out-1')).toMatchObject({ tally: { buyer: 2 }, votesLeft: 1, holds: 0 });
  await claimed(api, 'left-out', 'new');
});

test('S2.3 the same name begins a new list on the next day', async () => {
  await court(api, 'daily');
  await addCase(api, 'daily');
  const all = ['monday', 'monday-2', 'tuesday', 'tuesday-2'];
  for (const day of ['monday', 'tuesday']) {
    expect(await jurors(api, 'daily', [day], { list: 'daily' }), day).toEqual({ total: 1 });
    expect(await jurors(api, 'daily', [`${day}-2`], { list: 'daily', final: true }), day).toEqual({ total: 2 });
    expect(await admitted('daily', all), day).toEqual([day, `${day}-2`]);
  }
});

test('S2.3 two accounts that a new list finds to be one person hold one case', async () => {
  await court(api, 'merged', { votesToWin: 3 });
  await jurors(api, 'merged', ['one', 'two', 'three']);
  await addCases(api, 'merged', [
    { id: 'merged-1', body: 1 },
    { id: 'merged-2', body: 2 },
  ]);
  const held = await claimed(api, 'merged', 'one');
  await jurors(api, 'merged', [
    { id: 'one', person: 'both' },
    { id: 'two', person: 'both' },
  ]);
  for (const juror of ['one', 'two'])
    expect(await claim(api, 'merged', juror), juror).toMatchObject({ lease: { token: held.token }, resumed: true });
  await voted(api, held.id, held.token, 'buyer');
  const next = await claimed(api, 'merged', 'two');
  expect(next.id).not.toBe(held.id);
});

test('S2.3 two accounts that hold one case each have one vote on it when a list finds them to be one person', async () => {
  await court(api, 'both', { votesToWin: 3 });
  await jurors(api, 'both', ['one', 'two']);
  await addCase(api, 'both', { id: 'both-1' });
  const [one, two] = [await claimed(api, 'both', 'one'), await claimed(api, 'both', 'two')];
  await jurors(
    api,
    'both',
    ['one', 'two'].map((id) => ({ id, person: 'both' })),
    { list: 'b', final: true },
  );
  for (const juror of ['one', 'two'])
    expect([one.token, two.token]).toContain((await claimed(api, 'both', juror)).token);
  expect(await voted(api, 'both-1', one.token, 'buyer')).toMatchObject({ counted: true });
  const second = await vote(api, 'both-1', two.token, 'buyer');
  expectProblem(second, 'a second vote', 'already_voted');
  expect(await oneCase(api, 'both-1')).toMatchObject({ tally: { buyer: 1, seller: 0 }, holds: 0 });
});

test('S2.3 a list is of a court: only its name makes a chunk the last one', async () => {
  await court(api, 'named');
  const reply = await api.put('/v1/courts/named/jurors', { jurors: [], final: true });
  expectProblem(reply, 'final without list', 'invalid_request');
  const unknown = await api.put('/v1/courts/nowhere/jurors', { jurors: [] });
  expectProblem(unknown, 'no court', 'not_found');
});

const gives = [
  ['is not on the list any more', ['other']],
  ['is not eligible any more', ['other', { id: 'holder', eligible: false }]],
  ['turns out to be a party', ['other', { id: 'holder', person: 'claimant' }]],
] as const;

test.each(gives)('S2.3 a juror who %s does not get the held case again from a claim', async (why, list) => {
  const name = `struck-${why.length}`;
  await court(api, name, { votesToWin: 1 });
  await jurors(api, name, ['holder']);
  await addCase(api, name, { id: name, parties: [{ id: 'claimant' }] });
  const held = await claimed(api, name, 'holder');
  await jurors(api, name, [...list], { list: 'b', final: true });
  expect(await claim(api, name, 'holder')).toMatchObject({ case: null, lease: null, resumed: false });
  expect(await oneCase(api, name)).toMatchObject({ state: 'open', holds: 0 });
  expectProblem(await api.post(`/v1/cases/${name}/renew`, { token: held.token }), 'renew', 'lease_lost');
  // what they held is free for others at once
  expect(await claimed(api, name, 'other')).toMatchObject({ id: name });
});

test('S2.3 what was left of an upload that was given up is in no later list of that name', async () => {
  await court(api, 'given-up', { votesToWin: 100 });
  await addCase(api, 'given-up');
  const chunk = (all: string[], more: object) => jurors(api, 'given-up', all, { list: 'daily', ...more });
  const all = ['monday', 'tuesday', 'tuesday-2', 'wednesday'];
  expect(await chunk(['monday'], {})).toEqual({ total: 1 });
  // the next upload says that it begins
  expect(await chunk(['tuesday'], { first: true })).toEqual({ total: 1 });
  expect(await chunk(['tuesday-2'], { final: true })).toEqual({ total: 2 });
  expect(await admitted('given-up', all)).toEqual(['tuesday', 'tuesday-2']);
  // or it comes more than an hour after the last chunk
  await chunk(['tuesday'], {});
  await sql(`update juror_list set at = at - interval '61 minutes'`);
  expect(await chunk(['wednesday'], { final: true })).toEqual({ total: 1 });
  expect(await admitted('given-up', all)).toEqual(['wednesday']);
  const single = await api.put('/v1/courts/given-up/jurors', { jurors: [], first: true });
  expectProblem(single, 'first without a list', 'invalid_request');
});
