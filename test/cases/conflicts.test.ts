import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ProblemCode } from '../../contract/problems.ts';
import { eventually, numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { expectProblem } from '../support/problems.ts';
import { startTestSystem } from '../support/system.ts';

const { api, keyed } = await startTestSystem();
const { addCase, claim, claimed, court, events, invitations, judge, jurors, oneCase, openCourt, release } = api.cases;
const { stats, vote, votes } = api.cases;

const reviewer = (name: string) => keyed('reviewer', name);

/** Everybody who can be at odds with the case of `dispute`. */
const PEOPLE = [
  { id: 'buyer', person: 'p-buyer' },
  { id: 'buyer-2', person: 'p-buyer' },
  { id: 'seller', person: 'p-seller' },
  { id: 'seller-2', person: 'p-seller' },
  { id: 'witness-2', person: 'p-witness' },
  { id: 'voter', person: 'p-voter' },
  { id: 'voter-2', person: 'p-voter' },
  { id: 'holder', person: 'p-holder' },
  { id: 'holder-2', person: 'p-holder' },
  { id: 'away', eligible: false },
  { id: 'free' },
];

/** Buyer and seller are known by their ids, the witness by the person, whom no list has under that id. */
const PARTIES = [{ id: 'buyer' }, { id: 'seller' }, { id: 'witness', person: 'p-witness' }];

/** A case that one has voted on and another holds. */
async function dispute(name: string, id: string, settings: object = {}) {
  const rules = { votesToWin: 5, ...settings };
  await openCourt(name, rules, PEOPLE, [{ id, parties: PARTIES }]);
  await judge(name, 'voter', 'buyer');
  return { rules, held: await claimed(name, 'holder') };
}

const barred: [string, string, object][] = [
  ['a party', 'buyer', { party: 1 }],
  ['another account of a party known by id', 'buyer-2', { party: 1 }],
  ['the other party', 'seller', { party: 1 }],
  ['another account of the other party', 'seller-2', { party: 1 }],
  ['an account of a party given with the person', 'witness-2', { party: 1 }],
  ['one who has voted', 'voter', { voted: 1 }],
  ['another account of one who has voted', 'voter-2', { voted: 1 }],
  ['one who is not eligible', 'away', { notEligible: 1 }],
  ['one whom the list does not have', 'stranger', { notEligible: 1 }],
];

test('S2.3 no party, nobody who has voted, and no other account of theirs is handed the case', async () => {
  const { held } = await dispute('by-claim', 'claimed-1');
  for (const [who, juror, why] of barred) {
    const answer = await claim('by-claim', juror);
    expect(answer, who).toMatchObject({ case: null, lease: null, resumed: false, reasons: why });
    expect(Object.fromEntries(Object.entries(answer.reasons).filter(([, n]) => n !== 0)), who).toEqual(why);
  }
  for (const again of ['holder', 'holder-2'])
    expect(await claim('by-claim', again), again).toMatchObject({
      ...{ case: { id: 'claimed-1', holds: 1 }, lease: { token: held.token }, resumed: true, reasons: null },
    });
  expect(await claimed('by-claim', 'free')).toMatchObject({ id: 'claimed-1' });
  expect(await oneCase('claimed-1')).toMatchObject({ holds: 2, tally: { buyer: 1 } });
});

test('S2.3 one person holds one case of a court, by whatever account, and another of another court', async () => {
  await dispute('one-hold', 'hold-1');
  await addCase('one-hold', { id: 'hold-2' });
  const ids = await Promise.all(['holder', 'holder-2', 'holder', 'holder-2'].map((j) => claimed('one-hold', j)));
  expect(new Set(ids.map(({ token }) => token)).size).toBe(1);
  expect(new Set(ids.map(({ id }) => id))).toEqual(new Set(['hold-1']));
  await openCourt('one-hold-2', {}, PEOPLE, ['hold-3']);
  expect(await claimed('one-hold-2', 'holder-2')).toMatchObject({ id: 'hold-3' });
});

test('S2.1 S2.3 nobody who is at odds with a case is invited to it', async () => {
  const { rules } = await dispute('by-invitation', 'invited-1');
  const assign = { jurors: 5, answerSeconds: 600 };
  await court('by-invitation', { ...rules, mode: 'assign', assign });
  // a round asks everybody who can be asked, so whoever it left out then was left out for good
  await eventually(async () => (await invitations('free')).length === 1);
  const invited = (await events('invited-1')).filter((e) => e.type === 'invited');
  expect(invited.map((e) => e.data.juror)).toEqual(['free']);
  for (const { id } of PEOPLE.filter((p) => p.id !== 'free')) expect(await invitations(id), id).toEqual([]);
  expect(await oneCase('invited-1')).toMatchObject({ holds: 2 });
  // whom nothing stands against may wait for an invitation, but not ask
  await jurors('by-invitation', [{ id: 'late-comer', invite: false }]);
  const { reasons } = await claim('by-invitation', 'late-comer');
  expect(Object.entries(reasons).filter(([, n]) => n !== 0)).toEqual([['assigned', 1]]);
});

test('S2.3 a token that somebody else took is of no use to him', async () => {
  const { held } = await dispute('by-theft', 'stolen-1');
  for (const thief of ['buyer', 'buyer-2', 'seller-2', 'witness-2', 'voter', 'voter-2', 'away', 'stranger', 'free']) {
    const key = await reviewer(thief);
    expectProblem(await key.cases.vote('stolen-1', held.token, 'seller'), thief, 'not_found');
    for (const call of ['renew', 'release'])
      expectProblem(await key.post(`/v1/cases/stolen-1/${call}`, { token: held.token }), thief, 'not_found');
    expectProblem(await key.cases.vote('stolen-1', 'junk', 'seller'), thief, 'not_found');
  }
  expect(await oneCase('stolen-1')).toMatchObject({ holds: 1, tally: { buyer: 1, seller: 0 } });
  // his own other account may: it is one vote of one person all the same
  expect(await (await reviewer('holder-2')).cases.voted('stolen-1', held.token, 'seller')).toMatchObject({
    counted: true,
  });
  expect(await votes('stolen-1')).toMatchObject([{ juror: 'holder', option: 'seller' }, { juror: 'voter' }]);
  expect((await claim('by-theft', 'holder-2')).reasons).toMatchObject({ voted: 1 });
});

const without = (id: string) => PEOPLE.filter((p) => p.id !== id);
const instead = (id: string, more: object) => [...without(id), { id, ...more }];

const meanwhile: [string, object[], ProblemCode][] = [
  ['is not on the list any more', without('holder'), 'forbidden'],
  ['is not eligible any more', instead('holder', { person: 'p-holder', eligible: false }), 'forbidden'],
  ['turns out to be a party', instead('holder', { person: 'p-buyer' }), 'conflict_of_interest'],
  ['turns out to be a party given with the person', instead('holder', { person: 'p-witness' }), 'conflict_of_interest'],
  ['turns out to be one who has voted', instead('holder', { person: 'p-voter' }), 'already_voted'],
];

test.each(meanwhile)(
  'S2.3 who %s between claim and vote has no vote, and his hold is freed',
  async (what, list, why) => {
    const name = what.replaceAll(' ', '-');
    const { held } = await dispute(name, name);
    await jurors(name, list, { list: 'tomorrow', final: true });
    for (const option of ['seller', 'seller', 'buyer']) expectProblem(await vote(name, held.token, option), what, why);
    expect(await oneCase(name)).toMatchObject({ holds: 0, votesLeft: 4, tally: { buyer: 1, seller: 0 }, wasted: 0 });
    expect(await stats(name)).toMatchObject({ votes: 1, wasted: 0 });
    expect(await claimed(name, 'free')).toMatchObject({ id: name });
    // of no use for ever after, also when the list of the day after has him back
    await jurors(name, PEOPLE, { list: 'day-after', final: true });
    expectProblem(await vote(name, held.token, 'seller'), what, 'lease_lost');
    expect(await claimed(name, 'holder')).toMatchObject({ id: name });
  },
);

const CASES = byNight(20, 4);
const JURORS = byNight(300, 60);
const TO_WIN = 9;

/** Many jurors at once: each reads what he is given for a moment and votes, until nothing is left to judge. */
async function rush(name: string, overbook: number) {
  const people = numbered(JURORS, `${name}-`);
  await openCourt(name, { votesToWin: TO_WIN, overbook }, people, numbered(CASES, `${name}-`));
  let late = 0;
  await Promise.all(
    people.map(async (juror) => {
      for (;;) {
        const { case: given, lease, reasons } = await claim(name, juror);
        if (given) {
          await sleep(Math.random() * 100);
          const { status, body } = await vote(given.id, lease.token, Math.random() < 0.5 ? 'buyer' : 'seller');
          if (status === 200) expect(body.counted).toBe(true);
          else {
            expect(body).toMatchObject({ status: 409, code: 'not_open', state: 'decided' });
            late++;
          }
        } else if (reasons.none > 0) return;
        else await sleep(150 + Math.random() * 150);
      }
    }),
  );
  const cases = await Promise.all(repeat(CASES, (n) => oneCase(`${name}-${n}`)));
  for (const { state, winner, tally, holds } of cases) {
    expect({ state, holds }).toEqual({ state: 'decided', holds: 0 });
    expect(tally[winner]).toBe(TO_WIN);
    expect(Math.min(tally.buyer, tally.seller)).toBeLessThan(TO_WIN);
  }
  const wasted = cases.reduce((sum, one) => sum + one.wasted, 0);
  expect((await stats(name)).wasted).toBe(wasted);
  return { wasted, late };
}

test('S2.5 S2.6 hundreds of jurors rush a few cases without over-booking: no vote is wasted, none is too many', async () => {
  expect(await rush('exact', 0)).toEqual({ wasted: 0, late: 0 });
}, 180_000);

test('S2.6 with over-booking what is wasted is counted, once each', async () => {
  const { wasted, late } = await rush('over', 5);
  expect(late).toBeGreaterThan(0);
  expect(wasted).toBe(late);
}, 180_000);

const BLIND = { state: 'open', tally: { buyer: 0, seller: 0 }, votesLeft: 3, winner: null, holds: 1, wasted: 0 };

test('S2.3 a juror sees nothing of how others vote before their own vote, and all of it after the end', async () => {
  const sent = { id: 'blind-1', parties: [{ id: 'anna' }, { id: 'ben' }], body: { about: 'a shoe' } };
  await openCourt('blind', { votesToWin: 3, overbook: 1 }, ['first', 'second', 'third', 'reader'], [sent]);
  await judge('blind', 'first', 'buyer');
  const reader = await reviewer('reader');
  const { case: handed, lease } = await reader.cases.claimOwn('blind');
  expect(handed).toMatchObject({ ...BLIND, id: 'blind-1', body: { about: 'a shoe' }, parties: [] });
  expect(await reader.cases.oneCase('blind-1')).toEqual(handed);
  expect(await reader.cases.release('blind-1', lease.token)).toMatchObject({ ...BLIND, holds: 0 });

  const again = await reader.cases.claimOwn('blind');
  const after = (await reader.cases.voted('blind-1', again.lease.token, 'seller')).case;
  expect(after).toMatchObject({ ...BLIND, holds: 0, tally: { buyer: 0, seller: 1 }, votesLeft: 2 });
  expect(await reader.cases.oneCase('blind-1')).toEqual(after);
  for (const juror of ['second', 'third']) await judge('blind', juror, 'buyer');
  expect(await reader.cases.oneCase('blind-1')).toMatchObject({
    ...{ state: 'decided', winner: 'buyer', tally: { buyer: 3, seller: 1 }, votesLeft: 0 },
  });
  // the fields are those of any other case
  expect(Object.keys(handed).sort()).toEqual(Object.keys(await oneCase('blind-1')).sort());
});

test('S2.3 a juror reads no case that they do not hold and have not voted on, a party least of all', async () => {
  const people = ['holder', 'idle', { id: 'anna-2', person: 'anna' }, 'left'];
  await openCourt('others', { votesToWin: 3, leaseSeconds: 600 }, people, [
    { id: 'others-1', parties: [{ id: 'anna' }] },
  ]);
  const { token } = await claimed('others', 'left');
  await release('others-1', token);
  await claimed('others', 'holder');
  for (const who of ['idle', 'anna', 'anna-2', 'left', 'stranger'])
    expectProblem(await (await reviewer(who)).get('/v1/cases/others-1'), who, 'not_found');
  expectProblem(await (await reviewer('guesser')).get('/v1/cases/no-such-case'), 'none', 'not_found');
  expect(await (await reviewer('holder')).cases.oneCase('others-1')).toMatchObject({ holds: 1 });
});

test('S2.3 an app and a producer see all of a case, as do their calls for jurors', async () => {
  await openCourt('trusted', { votesToWin: 3 }, ['one', 'two'], [{ id: 'trusted-1', parties: [{ id: 'anna' }] }]);
  const app = await keyed('agent', 'app');
  await app.cases.voted('trusted-1', (await app.cases.claimed('trusted', 'one')).token, 'buyer');
  const { case: handed } = await app.cases.claim('trusted', 'two');
  const whole = { tally: { buyer: 1, seller: 0 }, votesLeft: 2, holds: 1, parties: [{ id: 'anna' }] };
  expect(handed).toMatchObject(whole);
  for (const caller of [app, await keyed('producer', 'shop')])
    expect(await caller.cases.oneCase('trusted-1')).toMatchObject({ ...whole, version: handed.version });
});
