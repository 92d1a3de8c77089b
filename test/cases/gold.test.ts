import { expect, test } from 'vitest';
import { eventually, insist, type Json, numbered } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';
import { msBetween } from '../support/times.ts';

const { api, keyed, sql } = await startTestSystem();
const { addCase, claim, claimed, court, invitations, judge, jurors, oneCase, openCourt, stats, vote } = api.cases;
const { voted } = api.cases;

async function putGold(name: string, answers: Record<string, string>): Promise<Json> {
  const cases = Object.entries(answers).map(([id, answer]) => ({ id, body: `about ${id}`, answer }));
  return insist(await api.put(`/v1/courts/${name}/gold`, { cases }), 'gold', 200);
}

/** One claim and one vote; the id of the case. */
const judged = async (...args: Parameters<typeof judge>): Promise<string> => (await judge(...args)).id;

/** All that a juror sees of a case but what differs from one to the next: its name and content, and the times as such. */
const shape = ({ id, body, court: _, createdAt, deadlineAt, decidedAt, endedAt, standing, ...seen }: Json) => ({
  ...seen,
  standing: standing && { ...standing, at: standing.at === decidedAt, case: standing.case === id },
  lifeMs: deadlineAt === null ? null : msBetween(createdAt, deadlineAt),
  ended: [decidedAt, endedAt].map((at) => at !== null && at >= createdAt),
});

const looks: [string, object][] = [
  ['with votes to come', { votesToWin: 3 }],
  ['with a deadline', { votesToWin: 3, deadlineSeconds: 86_400 }],
  ['that one vote decides', { votesToWin: 1, deadlineSeconds: 86_400 }],
];

test.each(looks)(
  'S2.8 gold looks like a case %s to its juror, before the vote, in its answer and after it',
  async (what, rules) => {
    const subject = what.replaceAll(' ', '-');
    const juror = await keyed('reviewer', subject);
    const seen: Record<string, Json[]> = {};
    for (const kind of ['plain', 'gold']) {
      const name = `${kind}-${subject}`;
      await openCourt(name, { ...rules, goldShare: 1, lateVotes: 'record' }, [subject, 'other'], []);
      if (kind === 'plain') await addCase(name, { id: name, parties: [{ id: 'anna' }] });
      else expect(await putGold(name, { [name]: 'seller' })).toEqual({ total: 1 });
      // other jurors are at it too
      if ((rules as Json).votesToWin > 1) await judge(name, 'other', 'seller');
      const first = await juror.cases.claimOwn(name);
      expect(first.case.id).toBe(name);
      const got = [first.case, await juror.cases.oneCase(name)];
      const { counted, case: after } = await juror.cases.voted(name, first.lease.token, 'buyer');
      expect(counted).toBe(true);
      got.push(after, await juror.cases.oneCase(name));
      const again = await juror.cases.voted(name, first.lease.token, 'buyer');
      seen[kind] = [...got, again.case].map(shape);
      expect((await juror.cases.claim(name, subject)).case, 'one vote a person').toBeNull();
    }
    expect(seen.gold).toEqual(seen.plain);
    const one = (rules as Json).votesToWin === 1;
    expect(seen.plain?.[0]).toMatchObject({ state: 'open', tally: { buyer: 0, seller: 0 }, holds: 1, winner: null });
    const after = { state: one ? 'decided' : 'open', tally: { buyer: 1, seller: 0 }, votesLeft: one ? 0 : 2 };
    expect(seen.plain?.[2]).toMatchObject(after);
  },
);

test('S2.8 gold comes to an end for whoever has voted on it, as other cases do', async () => {
  const juror = await keyed('reviewer', 'late');
  await openCourt('ends', { votesToWin: 3, goldShare: 1, deadlineSeconds: 86_400 }, ['late'], []);
  await putGold('ends', { 'ends-1': 'seller' });
  const { id, token } = await juror.cases.claimed('ends', 'late');
  await juror.cases.voted(id, token, 'seller');
  expect(await juror.cases.oneCase(id)).toMatchObject({ state: 'open', tally: { buyer: 0, seller: 1 } });
  await sql(`update vote set at = at - interval '10 days'`);
  const seen = await juror.cases.oneCase(id);
  expect(seen).toMatchObject({ state: 'decided', winner: 'seller', votesLeft: 0, tally: { seller: 3 }, holds: 0 });
  expect(seen.decidedAt).toBe(seen.endedAt);
  expect(seen.decidedAt < seen.deadlineAt).toBe(true);
  expect(await juror.cases.oneCase(id)).toEqual(seen);
});

test('S2.8 gold is never decided, whatever its votes and the rules, and in no list and no statistics', async () => {
  const rules = { votesToWin: 2, goldShare: 1, strategy: { pick: 'oldest' } };
  await openCourt('counted', rules, numbered(5), []);
  await putGold('counted', { g1: 'buyer' });
  await addCase('counted', { id: 'real-1' });
  for (const juror of numbered(5)) expect(await judged('counted', juror, 'buyer')).toBe('g1');
  const nothing = { decided: 0, hung: 0, invalidated: 0, votes: 0, votesLastHour: 0, kappa: null, alpha: null };
  expect(await stats('counted')).toMatchObject({ open: 1, ...nothing });
  for (const votesToWin of [1, 3]) {
    const changed = { ...rules, votesToWin };
    expect((await api.put('/v1/courts/counted', { ...changed, dryRun: true })).body.wouldDecide).toEqual([]);
    await court('counted', changed);
    expect(await oneCase('g1')).toMatchObject({ state: 'open', winner: null });
  }
  const { body } = await api.get('/v1/cases?court=counted');
  expect(body.items.map((one: Json) => one.id)).toEqual(['real-1']);
  for (const juror of numbered(3)) await judged('counted', juror, 'seller');
  expect(await stats('counted')).toMatchObject({ open: 0, decided: 1, votes: 3, completionRate: 1 });
  // taken away, it is still in none of them
  await putGold('counted', {});
  expect(await stats('counted')).toMatchObject({ open: 0, decided: 1, invalidated: 0, votes: 3 });
});

test('S2.8 who answers gold wrong falls below the bar with all his accounts, who answers it right does not', async () => {
  await openCourt(
    'bar',
    { votesToWin: 50, goldShare: 1, quality: { agreement: 0.6, after: 3 } },
    ['good', { id: 'bad', person: 'p-bad' }, { id: 'bad-2', person: 'p-bad' }],
    [],
  );
  await putGold('bar', { b1: 'buyer', b2: 'seller', b3: 'buyer' });
  await addCase('bar', { id: 'bar-real' });
  const right = (id: string) => (id === 'b2' ? 'seller' : 'buyer');
  for (let n = 0; n < 3; n++) {
    expect(['b1', 'b2', 'b3']).toContain(await judged('bar', 'good', right));
    // one of three right is too few, but not before there are three
    const answer = n === 0 ? right : (id: string) => (right(id) === 'buyer' ? 'seller' : 'buyer');
    expect(['b1', 'b2', 'b3']).toContain(await judged('bar', n === 1 ? 'bad-2' : 'bad', answer));
  }
  for (const juror of ['bad', 'bad-2'])
    expect(await claim('bar', juror), juror).toMatchObject({ case: null, reasons: { notEligible: 4 } });
  const { id, token } = await claimed('bar', 'good');
  expect(id).toBe('bar-real');
  expect(await voted(id, token, 'buyer')).toMatchObject({ counted: true });
  // the bar is the court's of now
  await court('bar', { votesToWin: 50, goldShare: 1, quality: { agreement: 0.3, after: 3 } });
  await claimed('bar', 'bad');
});

test('S2.3 S2.8 who falls below the bar while he holds a case has no vote on it', async () => {
  const rules = { votesToWin: 2, strategy: { pick: 'oldest' }, quality: { agreement: 1, after: 1 } };
  await openCourt('fallen', rules, numbered(4), ['fallen-1', 'fallen-2']);
  await judged('fallen', 'j0', 'seller');
  await judged('fallen', 'j1', 'buyer');
  const held = await claimed('fallen', 'j0');
  expect(held.id).toBe('fallen-2');
  await judged('fallen', 'j2', 'buyer');
  expect(await oneCase('fallen-1')).toMatchObject({ state: 'decided', winner: 'buyer' });
  const free = { holds: 0, tally: { buyer: 0, seller: 0 } };
  expect(await oneCase('fallen-2')).toMatchObject(free);
  for (let n = 0; n < 2; n++) expectProblem(await vote(held.id, held.token, 'buyer'), 'fallen', 'forbidden');
  expect(await oneCase('fallen-2')).toMatchObject(free);
  expect((await claim('fallen', 'j0')).reasons).toMatchObject({ notEligible: 1 });
});

test('S2.8 admit proven: only who has agreed often enough already is handed a case that is not gold', async () => {
  const rules = { votesToWin: 50, goldShare: 1, quality: { agreement: 0.5, after: 2 } };
  await openCourt('proven', rules, ['good', 'bad', 'new', 'half'], []);
  await putGold('proven', { p1: 'buyer', p2: 'buyer' });
  await addCase('proven', { id: 'proven-real' });
  for (let n = 0; n < 2; n++) {
    await judged('proven', 'good', 'buyer');
    await judged('proven', 'bad', 'seller');
  }
  await judged('proven', 'half', 'buyer');
  await judged('proven', 'new', 'buyer');
  await putGold('proven', {});
  const held = await claimed('proven', 'half');
  await court('proven', { ...rules, strategy: { admit: 'proven' } });
  expect(await oneCase('proven-real')).toMatchObject({ state: 'open', holds: 0 });
  for (const juror of ['bad', 'new'])
    expect((await claim('proven', juror)).reasons, juror).toMatchObject({ notEligible: 1 });
  expectProblem(await vote(held.id, held.token, 'buyer'), 'unproven', 'forbidden');
  expect(await claimed('proven', 'good')).toMatchObject({ id: 'proven-real' });
});

const provenRules = { votesToWin: 1, goldShare: 0, strategy: { admit: 'proven' }, quality: { agreement: 1, after: 2 } };

test('S2.8 a court of proven jurors begins: newcomers are handed gold until they have proven themselves', async () => {
  await openCourt('begins', provenRules, ['good', 'bad'], ['begins-real']);
  expect((await claim('begins', 'good')).reasons, 'no gold yet').toMatchObject({ notEligible: 1 });
  await putGold('begins', { 'begins-1': 'buyer', 'begins-2': 'seller' });
  const right = (id: string) => (id === 'begins-1' ? 'buyer' : 'seller');
  for (let n = 0; n < 2; n++) {
    expect(['begins-1', 'begins-2']).toContain(await judged('begins', 'good', right));
    expect(['begins-1', 'begins-2']).toContain(await judged('begins', 'bad', 'buyer'));
  }
  expect((await claim('begins', 'bad')).reasons).toMatchObject({ notEligible: 1 });
  expect(await judged('begins', 'good', 'buyer')).toBe('begins-real');
  expect(await oneCase('begins-real')).toMatchObject({ state: 'decided', winner: 'buyer' });
});

test('S2.1 S2.8 a court of proven jurors that invites begins too: newcomers are invited to gold first', async () => {
  await court('invites', { ...provenRules, mode: 'assign', assign: { jurors: 1, answerSeconds: 600 } });
  await putGold('invites', { 'invites-1': 'buyer', 'invites-2': 'buyer' });
  await jurors('invites', ['newcomer']);
  await addCase('invites', { id: 'invites-real' });
  const met: string[] = [];
  while (met.length < 3) {
    const next = await eventually(async () => (await invitations('newcomer'))[0]);
    met.push(next.case);
    await voted(next.case, next.token, 'buyer');
  }
  expect(met.slice(0, 2).sort()).toEqual(['invites-1', 'invites-2']);
  expect(met[2]).toBe('invites-real');
});

test('S2.8 gold is replaced as a whole; it cannot stand for a real case or have an answer that is no option', async () => {
  await openCourt('swap', { goldShare: 1 }, ['reader'], []);
  await putGold('swap', { 'swap-1': 'buyer' });
  await addCase('swap', { id: 'swap-real' });
  const stream = await openStream(api, 'juror=reader');
  const held = await claimed('swap', 'reader');
  expect(held.id).toBe('swap-1');
  expect(await putGold('swap', { 'swap-2': 'seller' })).toEqual({ total: 1 });
  expect((await stream.first('lease_lost')).data).toMatchObject({ kind: 'case', id: 'swap-1', reason: 'invalidated' });
  expectProblem(await vote(held.id, held.token, 'buyer'), 'taken away', 'not_open');
  expect(await claimed('swap', 'reader')).toMatchObject({ id: 'swap-2' });
  const gold = (id: string, answer: string) => api.put('/v1/courts/swap/gold', { cases: [{ id, body: null, answer }] });
  expectProblem(await gold('swap-real', 'buyer'), 'a real one', 'id_conflict');
  expectProblem(await gold('swap-3', 'neither'), 'no option', 'invalid_request');
  expect(await oneCase('swap-2')).toMatchObject({ state: 'open' });
});
