import { expect, test } from 'vitest';
import { eventually, type Json, numbered, repeat, walk } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, startReceiver } from '../support/receiver.ts';
import { openStream } from '../support/stream.ts';
import { startTwoSystems } from '../support/system.ts';
import { msBetween } from '../support/times.ts';

const [{ api, sql }, twin] = await startTwoSystems();
const { addCase, claim, claimed, court, events, eventTypes, invitations, judge, oneCase, openCourt, stats } = api.cases;
const { vote, voted, votes } = api.cases;

/** A holder must hear within a second; the machine that runs the tests is given some more. */
const SOON_MS = 3_000;

const eventOf = (id: string, type: string): Promise<Json> =>
  eventually(async () => (await events(id)).find((e) => e.type === type));
/** The first of a list, once it has one. */
const firstOf = (path: string): Promise<Json> => eventually(async () => (await api.get(path)).body.items[0]);
const hung = (id: string) => eventually(async () => (await oneCase(id)).state === 'hung');

const endings: [string, string, (id: string, tokens: string[]) => Promise<unknown>][] = [
  ['decided', 'court', async (id, [, other = '']) => voted(id, other, 'buyer')],
  [
    'invalidated',
    'anonymous',
    async (id) => {
      const call = () => api.post(`/v1/cases/${id}/invalidate`, { reason: 'withdrawn' });
      for (const { status, body } of await Promise.all(repeat(10, call)))
        expect([status, body.state]).toEqual([200, 'invalidated']);
    },
  ],
];

test.each(endings)('S2.6 whoever reads a case that is %s meanwhile is told at once', async (reason, by, end) => {
  const [name, id] = [`told-${reason}`, `told-${reason}-1`];
  const people = [`${reason}-reader`, `${reason}-other`, `${reason}-idle`];
  await openCourt(name, { votesToWin: 1, overbook: 1 }, people, [{ id }]);
  const [mine, idle] = [await openStream(api, `juror=${people[0]}`), await openStream(api, `juror=${people[2]}`)];
  const far = await openStream(twin.api, `juror=${people[0]}`);
  const tokens = [];
  for (const juror of people.slice(0, 2)) tokens.push((await claimed(name, juror)).token);
  await end(id, tokens);
  const ended = performance.now();
  for (const stream of [mine, far]) {
    const { data, at } = await stream.first('lease_lost');
    expect(data).toEqual({ kind: 'case', id, reason, by });
    expect(at - ended).toBeLessThan(SOON_MS);
  }
  expect(idle.events).toEqual([]);
  const late = await vote(id, tokens[0] ?? '', 'seller');
  expectProblem(late, 'late', 'not_open');
  if (reason === 'invalidated') expect(late.body).toMatchObject({ state: 'invalidated', reason: 'withdrawn' });
  expectProblem(await api.post(`/v1/cases/${id}/renew`, { token: tokens[0] }), 'renew', 'not_open');
  // an invalidated case wastes nobody's vote: there was nothing to decide
  expect(await oneCase(id)).toMatchObject({ state: reason, wasted: reason === 'decided' ? 1 : 0, holds: 0 });
});

test('S2.1 cases of a batch are in the order in which they were sent', async () => {
  await openCourt('batch', {}, [], []);
  const ids = numbered(1_000, 'batch-');
  await api.cases.addCases('batch', ids);
  expect((await walk(api, '/v1/cases?court=batch', 500, false)).map(({ id }) => id)).toEqual(ids.reverse());
});

test('S2.6 who decides a case is not told that he lost it', async () => {
  await openCourt('decider', { votesToWin: 1 }, ['decider'], ['decider-1', 'decider-2']);
  const stream = await openStream(api, 'juror=decider');
  const first = await claimed('decider', 'decider');
  await voted(first.id, first.token, 'buyer');
  const second = await claimed('decider', 'decider');
  await api.post(`/v1/cases/${second.id}/invalidate`, { reason: 'r' });
  await stream.first('lease_lost');
  expect(stream.events.map((e) => e.data.id)).toEqual([second.id]);
});

test('S2.7 fallback extendSeconds: a deadline is put off once, its holders go on, and then it hangs', async () => {
  const { callback, received } = await startReceiver();
  await openCourt('extended', { votesToWin: 2, callback, fallback: { extendSeconds: 3 } }, ['j0'], []);
  const { deadlineAt } = await addCase('extended', { id: 'ext-1', deadlineSeconds: 1 });
  const held = await claimed('extended', 'j0');
  const extended = await eventOf('ext-1', 'extended');
  expect(Date.parse(extended.at)).toBeGreaterThanOrEqual(Date.parse(deadlineAt));
  const later = await oneCase('ext-1');
  expect(msBetween(extended.at, later.deadlineAt)).toBeCloseTo(3_000, -2);
  expect(await voted('ext-1', held.token, 'buyer')).toMatchObject({ counted: true });
  await hung('ext-1');
  await eventually(async () => received.length > 0);
  expect(received.map(opened)).toMatchObject([{ type: 'case.hung', case: { id: 'ext-1', tally: { buyer: 1 } } }]);
  expect((await eventTypes('ext-1')).filter((t) => t === 'extended')).toHaveLength(1);
  expect((await eventOf('ext-1', 'hung')).data).toMatchObject({ reason: 'deadline', tally: { buyer: 1 } });
});

test('S2.7 fallback court: what hangs goes to the court of appeal, once, with its parties and its callback', async () => {
  const { callback, received } = await startReceiver();
  await openCourt('appeal', { votesToWin: 1 }, [{ id: 'judge' }, { id: 'friend', person: 'p-anna' }], []);
  await court('lower', { votesToWin: 2, deadlineSeconds: 0.4, fallback: { court: 'appeal' } });
  const sent = { id: 'dispute', parties: [{ id: 'anna', person: 'p-anna' }], body: { about: 'a shoe' }, callback };
  await addCase('lower', sent);
  const made = await firstOf('/v1/cases?court=appeal');
  const { parties, body } = sent;
  expect(made).toMatchObject({ court: 'appeal', state: 'open', parties, body, votesLeft: 1, deadlineAt: null });
  expect(await oneCase('dispute')).toMatchObject({ state: 'hung', winner: null });
  const escalated = await eventOf('dispute', 'escalated');
  expect(escalated.data).toMatchObject({ court: 'appeal', id: made.id });
  expect((await claim('appeal', 'friend')).reasons).toMatchObject({ party: 1 });
  const { token } = await claimed('appeal', 'judge');
  await voted(made.id, token, 'seller');
  await eventually(async () => received.length === 2);
  expect(received.map(opened).map((m) => [m.type, m.case.id, m.case.winner])).toEqual([
    ['case.hung', 'dispute', null],
    ['case.decided', made.id, 'seller'],
  ]);
  expect((await api.get('/v1/cases?court=appeal')).body.items).toHaveLength(1);
});

test('S2.7 a case whose id is as long as ids may be is taken to its court of appeal, too', async () => {
  await court('above', {});
  await court('below', { deadlineSeconds: 0.4, fallback: { court: 'above' } });
  const id = 'x'.repeat(200);
  await addCase('below', { id });
  const made = await firstOf('/v1/cases?court=above');
  const escalated = await eventOf(id, 'escalated');
  expect(escalated.data).toEqual({ court: 'above', id: made.id });
});

test('S2.7 fallback queue: what hangs becomes a ticket that no party is handed', async () => {
  const rules = { votesToWin: 1, panel: 1, options: ['a', 'b'], strategy: { decide: 'majority' } };
  await court('desk', { ...rules, deadlineSeconds: 0.4, fallback: { queue: 'hung-cases' } });
  await addCase('desk', { id: 'desk-1', parties: [{ id: 'party' }], body: 'text' });
  const ticket = await firstOf('/v1/tickets?queue=hung-cases');
  const body = { case: { id: 'desk-1', court: 'desk', state: 'hung', body: 'text', tally: { a: 0, b: 0 } } };
  expect(ticket).toMatchObject({ queue: 'hung-cases', state: 'waiting', exclude: ['party'], body });
  const escalated = await eventOf('desk-1', 'escalated');
  expect(escalated.data).toMatchObject({ queue: 'hung-cases', id: ticket.id });
});

test('S2.7 a court of appeal that does not exist is on record, and the case hangs all the same', async () => {
  await court('astray', { deadlineSeconds: 0.3, fallback: { court: 'nowhere' } });
  await addCase('astray', { id: 'astray-1' });
  const refused = await eventOf('astray-1', 'refused');
  expect(refused.data).toMatchObject({ attempt: 'escalate', reason: 'not_found', court: 'nowhere' });
  expect(await oneCase('astray-1')).toMatchObject({ state: 'hung' });
  // nobody has it
  expect((await eventOf('astray-1', 'delivery_failed')).data).toEqual({ reason: 'there is no court nowhere' });
});

test('S2.7 a changed deadline is that of the cases that run, those with their own aside', async () => {
  await openCourt('hurried', { votesToWin: 5 }, numbered(2), ['hurried-1']);
  await addCase('hurried', { id: 'hurried-2', deadlineSeconds: 3600 });
  const own = (await oneCase('hurried-2')).deadlineAt;
  await court('hurried', { votesToWin: 5, deadlineSeconds: 0.1 });
  await hung('hurried-1');
  expect(await oneCase('hurried-2')).toMatchObject({ state: 'open', deadlineAt: own });
  await court('hurried', { votesToWin: 5 });
  expect(await oneCase('hurried-1')).toMatchObject({ state: 'hung' });
});

test('S2.2 the first side to votesToWin wins, in the same transaction as the vote', async () => {
  await openCourt('first', { votesToWin: 2, overbook: 1 }, numbered(4), []);
  const sent = { id: 'f1', parties: [{ id: 'anna' }], body: { about: 'a shoe' } };
  expect(await addCase('first', sent)).toMatchObject({
    ...sent,
    ...{ court: 'first', state: 'open', tally: { buyer: 0, seller: 0 }, votesLeft: 2, winner: null },
    ...{ holds: 0, wasted: 0, deadlineAt: null, decidedAt: null },
  });
  const tokens = [];
  for (const juror of numbered(3)) tokens.push((await claimed('first', juror)).token);
  const [first = '', second = '', third = ''] = tokens;
  expect((await claim('first', 'j3')).reasons).toMatchObject({ noVotesLeft: 1, none: 0 });
  const open = { state: 'open', tally: { buyer: 0, seller: 1 }, votesLeft: 1, holds: 2 };
  expect(await voted('f1', first, 'seller')).toMatchObject({ counted: true, case: open });
  const decided = { state: 'decided', winner: 'seller', votesLeft: 0, holds: 0 };
  expect(await voted('f1', second, 'seller')).toMatchObject({ counted: true, case: decided });
  for (let n = 0; n < 2; n++) expectProblem(await vote('f1', third, 'buyer'), 'late', 'not_open');
  expect(await voted('f1', second, 'seller')).toMatchObject({ counted: true });
  expect(await oneCase('f1')).toMatchObject({ state: 'decided', wasted: 1, tally: { buyer: 0, seller: 2 } });
  expect(await votes('f1')).toMatchObject([
    { juror: 'j1', option: 'seller', comment: null, counted: true },
    { juror: 'j0', option: 'seller', comment: null, counted: true },
  ]);
  const pages = await walk(api, '/v1/cases/f1/votes', 1);
  expect(pages.map((v) => v.juror)).toEqual(['j1', 'j0']);
  expect(await stats('first')).toMatchObject({ open: 0, decided: 1, hung: 0, completionRate: 1, votes: 2, wasted: 1 });
  const types = ['created', ...Array(3).fill('claimed'), 'voted', 'voted', 'decided', 'refused'];
  expect(await eventTypes('f1')).toEqual(types);
});

test('S2.1 S2.5 the system invites as many as the case needs, and replaces who declines or stays silent', async () => {
  const { callback, received } = await startReceiver();
  const assign = { jurors: 3, answerSeconds: 600 };
  const people = [...numbered(8), { id: 'never', invite: false }];
  await openCourt('asked', { votesToWin: 2, mode: 'assign', assign, callback }, people, ['a1']);
  const open = async () => {
    const all = await Promise.all(numbered(8).map(async (j) => [j, (await invitations(j))[0]] as const));
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
  await sql(`update lease set expires_at = now() where item_id = 'a1' and ended_at is null`);
  await sql(`update item set wake_at = now() where kind = 'case' and id = 'a1'`);
  const asked = new Set([...first, ...second].map(([j]) => j));
  const third = await two((juror) => asked.has(juror));
  for (const [, one] of third) await voted('a1', one.token, 'buyer');
  expect(await oneCase('a1')).toMatchObject({ state: 'decided', winner: 'buyer' });
  await eventually(async () => received.length === 1);
  expect(received.map(opened)).toMatchObject([{ type: 'case.decided', case: { id: 'a1', winner: 'buyer' } }]);
});

test('S2.2 options may have names that every object has', async () => {
  const options = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
  await openCourt('names', { options, votesToWin: 2 }, numbered(8), []);
  for (const [n, option] of options.entries()) {
    await addCase('names', { id: `names-${n}` });
    const answers = [];
    for (const juror of [2 * n, 2 * n + 1]) answers.push(await judge('names', `j${juror}`, option));
    expect(Object.entries(answers[0].tally), option).toEqual(options.map((o) => [o, o === option ? 1 : 0]));
    expect(answers[1], option).toMatchObject({ state: 'decided', winner: option });
  }
  expect((await api.put('/v1/courts/names', { options, votesToWin: 1, dryRun: true })).status).toBe(200);
  expect(await stats('names')).toMatchObject({ decided: 4, kappa: 1 });
});
