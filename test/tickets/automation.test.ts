import { expect, test } from 'vitest';
import { eventually, insist, numbered, repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';

const { api, sql } = await startTestSystem();
const { add, addMany, claim, claimOne, configure, decide, history, inState, operate, suggest, suggested } = api.tickets;
const { ticket, withToken } = api.tickets;

const auto = (queue: string, more: object = {}, settings: object = {}) =>
  configure(queue, { ...settings, assist: { mode: 'auto', minConfidence: 0.9, ...more } });
const state = async (id: string) => (await ticket(id)).state;

test('B.2 in mode auto the first suggestion that reaches the confidence decides, by a lease of its own', async () => {
  const { callback, received } = await startReceiver();
  await auto('auto', {}, { callback });
  await add('auto', { id: 'au-1' });
  await suggested('au-1', 'unsure', 'no', 0.89);
  expect(await state('au-1')).toBe('waiting');
  await suggested('au-1', 'sure', 'yes', 0.9);
  await suggested('au-1', 'late', 'no', 1).catch(() => {});
  const decided = await ticket('au-1');
  expect(decided).toMatchObject({ state: 'decided', decision: 'yes', decidedBy: 'model:sure', automation: 'full' });
  expect(decided).toMatchObject({ attempts: 1, standing: { decision: 'yes', by: 'model:sure', automation: 'full' } });
  await eventually(async () => received.length > 0);
  const before = ['created by anonymous', 'claimed by model:sure', 'decided by model:sure'];
  await eventually(async () => expect(await history('au-1')).toEqual([...before, 'delivered by system']));
  expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
    type: 'ticket.decided',
    ticket: { id: 'au-1', decidedBy: 'model:sure', automation: 'full' },
  });
});

test('B.2 a person is never cut off; the suggestion decides when the ticket next waits', async () => {
  await auto('held', {}, { maxHeld: 4 });
  await addMany('held', ['he-1', 'he-2', 'he-3']);
  const [one, two, three] = (await claim('held', 'anna', { count: 3 })).tickets;
  for (const { id } of [one, two, three]) {
    await suggested(id, 'm', 'by model', 1);
    expect(await ticket(id)).toMatchObject({ state: 'held', lease: { reviewer: 'anna' } });
  }
  expect((await decide(one, 'by anna')).body.ticket).toMatchObject({ decision: 'by anna', automation: 'none' });
  await withToken(two, 'release');
  await inState('he-2', 'decided');
  // the clock takes it back
  await auto('held', {}, { leaseSeconds: 0.01 });
  await withToken(three, 'renew');
  await inState('he-3', 'decided');
  expect(await history('he-3')).toEqual([
    ...['created by anonymous', 'claimed by anna', 'reclaimed by system'],
    ...['claimed by model:m', 'decided by model:m'],
  ]);
});

test('B.2 a suggestion decides a ticket after its delay and its rules, and not in another queue', async () => {
  await auto('wait', {}, { rules: [{ when: { properties: { body: { const: 'x' } } }, add: 1 }] });
  await add('wait', { id: 'wa-1', delaySeconds: 0.3 });
  await add('wait', { id: 'wa-2', delaySeconds: 900 });
  await suggested('wa-1', 'm', 1, 1);
  await suggested('wa-2', 'm', 1, 1);
  await inState('wa-1', 'decided');
  expect(await history('wa-1')).toContain('available by system');
  expect(await state('wa-2')).toBe('delayed');
  await auto('elsewhere');
  await add('wait', { id: 'wa-3' });
  const held = await claimOne('wait', 'anna');
  await suggested('wa-3', 'm', 1, 1);
  insist(await operate('wa-3', 'transfer', { queue: 'elsewhere' }), 'transfer', 200);
  expect((await claimOne('elsewhere', 'anna')).id).toBe(held.id);
});

test('B.2 a paused queue, a higher confidence and another mode wait; what is changed counts at once', async () => {
  await auto('pause');
  await addMany('pause', ['pa-1', 'pa-2', 'pa-3']);
  insist(await api.post('/v1/queues/pause/pause'), 'pause', 200);
  await suggested('pa-1', 'm', 1, 0.95);
  await suggested('pa-2', 'm', 1, 0.7);
  expect(await state('pa-1')).toBe('waiting');
  insist(await api.post('/v1/queues/pause/resume'), 'resume', 200);
  await inState('pa-1', 'decided');
  expect(await state('pa-2')).toBe('waiting');
  // what came in another mode never decides
  await configure('pause', { assist: { mode: 'shadow', minConfidence: 0.6 } });
  await suggested('pa-3', 'm', 1, 1);
  await auto('pause', { minConfidence: 0.6 });
  await inState('pa-2', 'decided');
  expect(await state('pa-3')).toBe('waiting');
  expect((await claimOne('pause', 'anna')).id).toBe('pa-3');
});

test('B.2 a suggestion decides when the ticket next waits without skills, and one for another body once it is there', async () => {
  await auto('freed');
  await addMany('freed', [
    { id: 'fr-1', requires: ['x'] },
    { id: 'fr-2', requires: ['x'] },
  ]);
  for (const id of ['fr-1', 'fr-2']) await suggested(id, 'm', 'yes', 1);
  insist(await api.patch('/v1/tickets/fr-1', { requires: [] }), 'patch', 200);
  await inState('fr-1', 'decided');
  expect(await ticket('fr-1')).toMatchObject({ decision: 'yes', decidedBy: 'model:m' });
  insist(await api.patch('/v1/tickets/fr-2', { requires: [], body: 'edited' }), 'patch', 200);
  expect(await state('fr-2')).toBe('waiting');
  await suggested('fr-2', 'm', 'no', 1);
  expect(await ticket('fr-2')).toMatchObject({ decision: 'no', decidedBy: 'model:m' });
});

test('B.2 no model decides what needs skills, excludes it, is for a person, is a second look, or is not what it saw', async () => {
  await auto('never', { share: 1 });
  await addMany('never', [
    { id: 'ne-1', requires: ['de'] },
    { id: 'ne-2', exclude: ['model:m'] },
    { id: 'ne-3' },
    { id: 'ne-4' },
    { id: 'ne-5', for: 'zoe' },
    { id: 'ne-6', for: 'zoe', forSeconds: 0.5 },
  ]);
  for (const id of ['ne-1', 'ne-2', 'ne-5', 'ne-6']) await suggested(id, 'm', 1, 1);
  const changed = await claimOne('never', 'anna', { skills: [] });
  expect(changed.id).toBe('ne-2');
  const other = await claimOne('never', 'ben');
  await suggested(other.id, 'm', 1, 1);
  insist(await api.patch(`/v1/tickets/${other.id}`, { body: 'edited' }), 'patch', 200);
  await withToken(other, 'release');
  await suggested('ne-4', 'm', 1, 1);
  const { looks } = await ticket('ne-4');
  const [{ id: look }] = looks;
  await suggested(look, 'm', 1, 1);
  await inState('ne-6', 'decided');
  for (const id of ['ne-1', 'ne-5', other.id, look]) expect(await state(id)).toBe('waiting');
  // the exclusion ends, and with it the wait
  insist(await api.patch('/v1/tickets/ne-2', { exclude: [] }), 'patch', 200);
  await withToken(changed, 'release');
  await inState('ne-2', 'decided');
});

test('B.2 forms hold: what does not fit the form of now decides nothing, the next that fits does', async () => {
  await auto('form', {}, { form: { type: 'integer' } });
  await addMany('form', ['fm-1', 'fm-2']);
  const held = [await claimOne('form', 'anna'), await claimOne('form', 'ben')];
  await suggested('fm-1', 'm', 1, 1);
  await suggested('fm-1', 'n', 5, 1);
  await suggested('fm-2', 'm', 1, 1);
  await auto('form', {}, { form: { type: 'integer', minimum: 3 } });
  for (const one of held) await withToken(one, 'release');
  await inState('fm-1', 'decided');
  expect(await ticket('fm-1')).toMatchObject({ decidedBy: 'model:n', decision: 5 });
  expect(await state('fm-2')).toBe('waiting');
});

test("B.2 a model's decision decides no other ticket of its subject", async () => {
  await auto('sync', {}, { sync: 'subject' });
  await addMany('sync', [
    { id: 'sy-1', subject: 's' },
    { id: 'sy-2', subject: 's' },
  ]);
  await suggested('sy-1', 'm', 1, 1);
  expect([await state('sy-1'), await state('sy-2')]).toEqual(['decided', 'waiting']);
});

test('B.2 of decisions by models their own share gets a second look, or that of all where it is larger', async () => {
  const second = { share: 1, of: 'all' };
  for (const [queue, settings, looks] of [
    ['sh-own', { assist: { mode: 'auto', minConfidence: 0, share: 1 } }, [1, 0]],
    ['sh-people', { assist: { mode: 'auto', minConfidence: 0 }, second: { share: 1, of: 'people' } }, [0, 1]],
    ['sh-all', { assist: { mode: 'auto', minConfidence: 0, share: 0.0001 }, second }, [1, 1]],
  ] as const) {
    await configure(queue, settings);
    await addMany(queue, [`${queue}-1`, `${queue}-2`]);
    await suggested(`${queue}-1`, 'm', 1, 1);
    // a look comes first: somebody else takes what is behind it
    const held = await claimOne(queue, 'anna');
    await decide(held.id === `${queue}-2` ? held : await claimOne(queue, 'ben'));
    const found = await Promise.all([1, 2].map(async (n) => (await ticket(`${queue}-${n}`)).looks.length));
    expect(found, queue).toEqual(looks);
  }
});

test('B.2 fifty suggestions at once, beside claims and decisions: one decides each ticket, by a live lease', async () => {
  await auto('race', { minConfidence: 0.5 }, { maxHeld: 1 });
  const rounds = byNight(20, 2);
  for (let round = 0; round < rounds; round++) {
    const ids = numbered(4, `race-${round}-`);
    await addMany('race', ids);
    const suggesting = ids.flatMap((id) =>
      repeat(50, (n) => suggest(id, `m-${n}`, { by: n }, n % 2 === 0 ? 0.4 : 0.6)),
    );
    const people = repeat(8, async (n) => {
      const { tickets } = await claim('race', `p-${round}-${n}`);
      for (const one of tickets) await (n % 2 === 0 ? decide(one, { by: 'person' }) : withToken(one, 'release'));
    });
    const answers = await Promise.all(suggesting);
    await Promise.all(people);
    expect([...new Set(answers.map(({ status }) => status))].toSorted()).toEqual(expect.arrayContaining([201]));
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    for (const id of ids) {
      await inState(id, 'decided');
      const { decidedBy, decision, automation } = await ticket(id);
      const ends = (await history(id)).filter((line) => line.startsWith('decided'));
      expect(ends).toEqual([`decided by ${decidedBy}`]);
      if (decision.by === 'person') expect(automation).toBe('none');
      else expect({ decidedBy, automation }).toEqual({ decidedBy: `model:m-${decision.by}`, automation: 'full' });
      expect(decision.by).not.toBe(0);
    }
  }
  const twice = await sql(
    "select item_id from event where kind = 'ticket' and type = 'decided' group by item_id having count(*) > 1",
  );
  expect(twice).toEqual([]);
});

test('B.2 fifty times the same suggestion at once is one, and of fifty others one counts', async () => {
  await configure('same', { assist: { mode: 'shadow' } });
  await addMany('same', ['sa-1', 'sa-2']);
  const same = await Promise.all(repeat(50, () => suggest('sa-1', 'm', { spam: true }, 0.5)));
  expect(same.map(({ status }) => status).toSorted()).toEqual([...repeat(49, () => 200), 201]);
  const others = await Promise.all(repeat(50, (n) => suggest('sa-2', 'm', n, 0.5)));
  expect(others.map(({ status }) => status).toSorted()).toEqual([201, ...repeat(49, () => 409)]);
});
