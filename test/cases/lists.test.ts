import pg from 'pg';
import { expect, test } from 'vitest';
import { insist, type Json, numbered, repeat } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';

const { api, databaseUrl, keyed, sql } = await startTestSystem({}, { role: 'api' });
const { addCase, claim, claimed, court, judge, jurors, oneCase, openCourt, release, vote, voted } = api.cases;

/** Those whom the court hands something. They give it back. */
async function admitted(name: string, all: string[]): Promise<string[]> {
  const handed = [];
  for (const juror of all) {
    const { case: found, lease, reasons } = await claim(name, juror);
    if (found === null) {
      expect(reasons.notEligible, juror).toBeGreaterThan(0);
      continue;
    }
    handed.push(juror);
    await release(found.id, lease.token);
  }
  return handed;
}

test('S2.3 jurors are added and changed one by one, and counted', async () => {
  await court('upserts');
  await addCase('upserts', { id: 'upserts-1' });
  expect(await jurors('upserts', ['a', 'b'])).toEqual({ total: 2 });
  expect(await jurors('upserts', ['b', 'c', { id: 'd', eligible: false }])).toEqual({ total: 4 });
  expect(await admitted('upserts', ['a', 'b', 'c', 'd', 'e'])).toEqual(['a', 'b', 'c']);
  const changed = [{ id: 'd' }, { id: 'a', eligible: true }, { id: 'a', eligible: false }];
  expect(await jurors('upserts', changed)).toEqual({ total: 4 });
  expect(await admitted('upserts', ['a', 'b', 'c', 'd'])).toEqual(['b', 'c', 'd']);
});

test('S2.3 a list that comes in chunks shows nothing before its last one, and replaces the old list at once', async () => {
  await court('chunks', { votesToWin: 100 });
  await addCase('chunks');
  expect(await jurors('chunks', ['old', 'stays'])).toEqual({ total: 2 });
  const chunk = (all: (string | object)[], final = false, list = '2025-01-02') =>
    jurors('chunks', all, { list, final });
  expect(await chunk([...numbered(50), { id: 'stays', eligible: false }])).toEqual({ total: 51 });
  expect(await chunk(numbered(100))).toEqual({ total: 101 });
  // another list half way, and a change of the list of today: neither gets into the other
  expect(await chunk(['other'], false, 'other')).toEqual({ total: 1 });
  expect(await jurors('chunks', ['today'])).toEqual({ total: 3 });
  const all = ['old', 'stays', 'today', 'other', 'j0', 'j99', 'last'];
  expect(await admitted('chunks', all)).toEqual(['old', 'stays', 'today']);
  expect(await chunk(['last', 'stays'], true)).toEqual({ total: 102 });
  expect(await admitted('chunks', all)).toEqual(['stays', 'j0', 'j99', 'last']);
});

test('S2.3 the last chunk sent again, also by 50 at once, leaves the list as it is; a list in one chunk is brought anew', async () => {
  await court('again', { votesToWin: 100 });
  await addCase('again');
  const chunk = (all: (string | object)[], more: object = {}) => jurors('again', all, { list: 'daily', ...more });
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
  await jurors('again', [{ id: 'b', eligible: false }]);
  expect(await chunk(['a', 'b'], { final: true })).toEqual({ total: 2 });
  expect(await admitted('again', ['a', 'b'])).toEqual(['a', 'b']);
});

const BOTH = ['one', 'two'].map((id) => ({ id, person: 'both' }));

test('S2.3 two accounts that a new list finds to be one person hold one case', async () => {
  await openCourt('merged', { votesToWin: 3 }, ['one', 'two', 'three'], ['merged-1', 'merged-2']);
  const held = await claimed('merged', 'one');
  await jurors('merged', BOTH);
  for (const juror of ['one', 'two'])
    expect(await claim('merged', juror), juror).toMatchObject({ lease: { token: held.token }, resumed: true });
  await voted(held.id, held.token, 'buyer');
  const next = await claimed('merged', 'two');
  expect(next.id).not.toBe(held.id);
});

test('S2.3 two accounts that hold one case each have one vote on it when a list finds them to be one person', async () => {
  await openCourt('both', { votesToWin: 3 }, ['one', 'two'], ['both-1']);
  const [one, two] = [await claimed('both', 'one'), await claimed('both', 'two')];
  await jurors('both', BOTH, { list: 'b', final: true });
  for (const juror of ['one', 'two']) expect([one.token, two.token]).toContain((await claimed('both', juror)).token);
  expect(await voted('both-1', one.token, 'buyer')).toMatchObject({ counted: true });
  const second = await vote('both-1', two.token, 'buyer');
  expectProblem(second, 'a second vote', 'already_voted');
  expect(await oneCase('both-1')).toMatchObject({ tally: { buyer: 1, seller: 0 }, holds: 0 });
});

test('S2.3 a list is of a court: only its name makes a chunk the last one', async () => {
  await court('named');
  const reply = await api.put('/v1/courts/named/jurors', { jurors: [], final: true });
  expectProblem(reply, 'final without list', 'invalid_request');
  const unknown = await api.put('/v1/courts/nowhere/jurors', { jurors: [] });
  expectProblem(unknown, 'no court', 'not_found');
});

const barred = [
  ['the list of the next day leaves out', ['next'], { list: 'b', final: true }],
  ['is not eligible any more', ['next', { id: 'holder', eligible: false }], {}],
  ['turns out to be a party', ['next', { id: 'holder', person: 'claimant' }], {}],
  ['shares its person with an account that turns out to be a party', ['next', { id: 'claimant', person: 'p' }], {}],
] as const;

test.each(barred)(
  'S2.3 S2.5 a juror who %s holds nothing from then on: the next juror is served',
  async (why, list, more) => {
    const name = `barred-${why.length}`;
    await court(name, { votesToWin: 1 });
    await jurors(name, [{ id: 'holder', person: 'p' }]);
    await addCase(name, { id: name, parties: [{ id: 'claimant' }] });
    const { token } = await claimed(name, 'holder');
    const stream = await openStream(api, 'juror=holder');
    await jurors(name, [...list], more);
    expect(await oneCase(name)).toMatchObject({ state: 'open', holds: 0 });
    expect(await claim(name, 'holder')).toMatchObject({ case: null, lease: null, resumed: false });
    expect(await claimed(name, 'next')).toMatchObject({ id: name });
    expect((await stream.first('lease_lost')).data).toMatchObject({ kind: 'case', id: name, reason: 'revoked' });
    expectProblem(await api.post(`/v1/cases/${name}/renew`, { token }), 'renew', 'lease_lost');
  },
);

test('S2.3 S2.5 claims beside changes of the list leave no hold with a juror who may not vote', async () => {
  await court('beside', { votesToWin: 100 });
  await addCase('beside', { id: 'beside-1' });
  const all = numbered(40);
  const chunk = { list: 'next', final: true };
  for (let round = 0; round < 5; round++) {
    await jurors('beside', all, chunk);
    const claims = all.map((juror) => claim('beside', juror));
    await Promise.all([...claims, jurors('beside', ['other'], chunk)]);
    expect(await oneCase('beside-1')).toMatchObject({ holds: 0 });
  }
});

test('S2.3 what was left of an upload that was given up is in no later list of that name', async () => {
  await court('given-up', { votesToWin: 100 });
  await addCase('given-up');
  const chunk = (all: string[], more: object) => jurors('given-up', all, { list: 'daily', ...more });
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

const remove = (name: string) => api.raw('DELETE', `/v1/courts/${name}`);
const listed = async () => (await api.get('/v1/courts?limit=500')).body.items.map((c: Json) => c.name);

test('S2.8 a court without open cases is deleted, with its jurors and its gold; its final cases stay', async () => {
  await openCourt(
    'gone',
    { votesToWin: 1, options: ['yes', 'no'], goldShare: 0 },
    ['ann', 'ben'],
    ['gone-1', 'gone-2'],
  );
  await insist(
    await api.put('/v1/courts/gone/gold', { cases: [{ id: 'gone-gold', body: 1, answer: 'yes' }] }),
    'gold',
    200,
  );
  await judge('gone', 'ann', 'yes');
  expectProblem(await remove('gone'), 'open', 'in_use');
  await judge('gone', 'ann', 'yes');
  expect(await remove('gone')).toMatchObject({ status: 200, body: { deleted: true } });
  expectProblem(await remove('gone'), 'again', 'not_found');
  expect(await listed()).not.toContain('gone');
  expectProblem(await api.get('/v1/courts/gone'), 'get', 'not_found');
  expectProblem(await api.post('/v1/courts/gone/claim', { juror: 'ann' }), 'claim', 'not_found');
  expectProblem(await api.post('/v1/courts/gone/cases', { body: 1 }), 'add', 'not_found');
  expect(await oneCase('gone-1')).toMatchObject({ state: 'decided', winner: 'yes', tally: { yes: 1, no: 0 } });
  expect(await oneCase('gone-gold')).toMatchObject({ state: 'invalidated', endReason: 'withdrawn' });
  const ann = await keyed('reviewer', 'ann');
  expect((await ann.get('/v1/cases/gone-1')).body).toMatchObject({ state: 'decided', tally: { yes: 1, no: 0 } });
  // made anew it has nothing of before
  expect(await court('gone', {})).toMatchObject({ votesToWin: 9, options: ['buyer', 'seller'], goldShare: 0.1 });
  expect((await listed())[0]).toBe('gone');
  await addCase('gone', { id: 'gone-3' });
  expect((await claim('gone', 'ann')).reasons).toMatchObject({ notEligible: 1 });
  expectProblem(await remove('never'), 'never', 'not_found');
});

test('S2.8 fifty cases are added while their court is deleted: each that was taken is there, and so is its court', async () => {
  for (let round = 0; round < 3; round++) {
    const name = `race-${round}`;
    await court(name, { votesToWin: 1 });
    const adding = numbered(50, `${name}-`).map((id) => api.post(`/v1/courts/${name}/cases`, { id, body: 1 }));
    const deleting = Promise.all(numbered(5).map(() => remove(name)));
    const added = (await Promise.all(adding)).filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect((await deleting).filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const open = (await api.get(`/v1/cases?court=${name}&state=open&limit=500`)).body.items;
    expect(open.map((c: Json) => c.id).sort()).toEqual([...added].sort());
    expect((await api.get(`/v1/courts/${name}`)).status).toBe(added.length > 0 ? 200 : 404);
  }
});

test('S2.8 a court is deleted without waiting for an invitation of its jurors that is under way', async () => {
  await court('inviting', {});
  await sql("insert into freed_juror (court, person) values ('inviting', 'ann')");
  const inviting = new pg.Client({ connectionString: databaseUrl });
  await inviting.connect();
  await inviting.query('begin');
  // an invitation locks this row first, and waits for the change of the court's jurors then
  await inviting.query("select from freed_juror where court = 'inviting' for update");
  const deleted = remove('inviting');
  await Promise.race([deleted, inviting.query('select pg_sleep(2)')]);
  await inviting.query("select lock_jurors('inviting', false)");
  expect((await sql("select from queue where name = 'inviting' and deleted_at is not null")).length).toBe(1);
  await inviting.query('rollback');
  await inviting.end();
  expect(await deleted).toMatchObject({ status: 200 });
});
