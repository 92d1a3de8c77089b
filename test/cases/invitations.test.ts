import { expect, test } from 'vitest';
import { eventually, insist, type Json, numbered } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { opened, SECRET, startReceiver } from '../support/receiver.ts';
import { openStream } from '../support/stream.ts';
import { startTestSystem } from '../support/system.ts';
import { timersOf } from '../support/timers.ts';

const { api, cell, running, sql } = await startTestSystem();
const { addCase, addCases, court, eventTypes, invitations, jurors, oneCase, openCourt, voted } = api.cases;

/** A case that finds no juror looks again after 30 s; what is prompt must come well before. */
const PROMPT_MS = 8_000;

const assign = (more: object = {}) => ({ jurors: 1, answerSeconds: 600, ...more });
/** A court that invites. */
const inviting = { votesToWin: 1, mode: 'assign', assign: assign() };
const invitationOf = (juror: string, id?: string) =>
  eventually(async () => (await invitations(juror)).find((i) => id === undefined || i.case === id), PROMPT_MS);
const deliveries = async (id: string): Promise<Json[]> =>
  insist(await api.get(`/v1/cases/${id}/deliveries`), 'deliveries', 200).items;
/** The workflow has asked for jurors and found none: it waits before it asks again. */
const askedInVain = (id: string) =>
  eventually(async () => (await timersOf(running, `case/${id}`)).includes('jurors are asked for again'));

/** A court whose only juror is invited to the first case, and a second case for which no juror is left. */
async function shortOfJurors(name: string, settings: object = {}) {
  const rules = { ...inviting, votesToWin: 2, ...settings };
  await openCourt(name, rules, [`${name}-j`], [`${name}-1`]);
  const first = await invitationOf(`${name}-j`);
  await addCase(name, { id: `${name}-2` });
  await askedInVain(`${name}-2`);
  expect(await oneCase(`${name}-2`)).toMatchObject({ holds: 0 });
  return { rules, juror: `${name}-j`, first, second: `${name}-2` };
}

type Short = Awaited<ReturnType<typeof shortOfJurors>>;
const frees: [string, (short: Short) => Promise<unknown>][] = [
  ['votes', ({ first }) => voted(first.case, first.token, 'buyer')],
  ['declines', ({ first }) => api.post(`/v1/cases/${first.case}/decline`, { token: first.token })],
  ['releases', ({ first }) => api.post(`/v1/cases/${first.case}/release`, { token: first.token })],
  ['loses the case to its end', ({ first }) => api.post(`/v1/cases/${first.case}/invalidate`, { reason: 'r' })],
];

test.each(frees)('S2.1 a juror who %s is invited to a case that lacks jurors, without a sweep', async (how, free) => {
  const short = await shortOfJurors(how.split(' ')[0] ?? '');
  await free(short);
  await invitationOf(short.juror, short.second);
  expect(await oneCase(short.second)).toMatchObject({ holds: 1 });
});

test('S2.1 a juror whose lease ends is invited to a case that lacks jurors, without a sweep', async () => {
  const short = await shortOfJurors('silent', { assign: assign({ answerSeconds: 4 }) });
  await invitationOf(short.juror, short.second);
});

test('S2.1 who is newly listed, becomes eligible, opts in or gets a higher cap is invited without a sweep', async () => {
  const rules = { ...inviting, votesToWin: 9, assign: assign({ jurors: 9, perJurorPerDay: 1 }) };
  const [ineligible, out] = [
    { id: 'ineligible', eligible: false },
    { id: 'out', invite: false },
  ];
  await openCourt('joins', rules, [ineligible, out], ['joins-1']);
  await askedInVain('joins-1');
  await jurors('joins', ['new']);
  const { token } = await invitationOf('new', 'joins-1');
  await jurors('joins', [{ id: 'ineligible' }]);
  await invitationOf('ineligible', 'joins-1');
  await jurors('joins', [{ id: 'out', invite: true }]);
  await invitationOf('out', 'joins-1');
  const list = ['new', 'ineligible', 'out', 'listed'];
  await jurors('joins', list, { list: 'tomorrow', final: true });
  await invitationOf('listed', 'joins-1');
  // one invitation a day has been made, so there is none to another case
  await voted('joins-1', token, 'buyer');
  await addCase('joins', { id: 'joins-2' });
  await askedInVain('joins-2');
  expect(await invitations('new')).toEqual([]);
  await court('joins', { ...rules, assign: assign({ jurors: 9, perJurorPerDay: 2 }) });
  await invitationOf('new', 'joins-2');
});

test('S2.1 a freed juror costs one case, however many lack jurors', async () => {
  const short = await shortOfJurors('many');
  const ids = numbered(30, 'many-x');
  await addCases('many', ids);
  for (const id of ids) await askedInVain(id);
  const newest = await cell(`select max(version)::text from item where queue = 'many'`);
  await voted(short.first.case, short.first.token, 'buyer');
  await eventually(async () => (await invitations(short.juror)).length === 1, PROMPT_MS);
  // none of the others was even written to
  const written = await sql(`select id from item where kind = 'case' and queue = 'many' and version > $1`, [newest]);
  expect(written.length).toBeLessThanOrEqual(2);
});

test("S2.1 an invitation is an event on the juror's stream and a callback of the court", async () => {
  const receiver = await startReceiver();
  const { callback } = receiver;
  const rules = { ...inviting, votesToWin: 2, assign: assign({ jurors: 2 }) };
  await court('heard', { ...rules, callback, invitationCallback: callback });
  const streams = [await openStream(api, 'juror=heard-0'), await openStream(api, 'juror=heard-1')];
  await jurors('heard', numbered(2, 'heard-'));
  await addCase('heard', { id: 'heard-case', body: 'about a shoe' });
  const tokens = [];
  for (const [n, stream] of streams.entries()) {
    const { data, id } = await stream.first('invited');
    const invitation = await invitationOf(`heard-${n}`);
    expect(data).toEqual({ kind: 'case', id: 'heard-case', court: 'heard', expiresAt: invitation.expiresAt });
    expect(id).toMatch(/^\d+$/);
    tokens.push(invitation.token);
  }
  await eventually(async () => receiver.received.length === 2);
  for (const call of receiver.received) {
    const { type, version, juror, case: about, expiresAt, ...more } = opened(call);
    expect({ type, more }).toEqual({ type: 'case.invited', more: {} });
    expect(about).toMatchObject({ id: 'heard-case', court: 'heard', state: 'open', body: 'about a shoe' });
    expect(expiresAt).toBe((await invitationOf(juror)).expiresAt);
    expect(version).toBeLessThanOrEqual(about.version);
    for (const token of tokens) expect(call.body).not.toContain(token);
  }
  expect(new Set(receiver.received.map((call) => opened(call).juror))).toEqual(new Set(numbered(2, 'heard-')));
  const message = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  expect(message.size).toBe(2);
  await eventually(async () => (await deliveries('heard-case')).every((d) => d.state === 'delivered'));
  // the outcome has a delivery of its own, and is delivered beside them
  for (const token of tokens) await voted('heard-case', token, 'buyer');
  await eventually(async () => receiver.received.length === 3);
  await eventually(async () => (await deliveries('heard-case')).every((d) => d.state === 'delivered'));
  const listed = await deliveries('heard-case');
  const types = ['case.decided', 'case.invited', 'case.invited'];
  expect(receiver.received.map((call) => opened(call).type).sort()).toEqual(types);
  expect(listed.sort((a, b) => a.n - b.n).map((d) => `${d.n} ${d.type}`)).toEqual(types.map((t, n) => `${n + 1} ${t}`));
  expect((await eventTypes('heard-case')).filter((t) => t === 'delivered')).toHaveLength(1);
});

test('S2.1 an invitation is delivered again until it has ended, and not after that', async () => {
  const receiver = await startReceiver(() => 500);
  await openCourt('again', { ...inviting, invitationCallback: receiver.callback }, ['again-j'], ['again-1']);
  const { token } = await invitationOf('again-j');
  await eventually(async () => receiver.received.length >= 2);
  await api.post('/v1/cases/again-1/decline', { token });
  await eventually(async () => (await deliveries('again-1'))[0]?.state === 'failed');
  expect((await deliveries('again-1'))[0]).toMatchObject({ type: 'case.invited', error: 'the invitation has ended' });
  const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  expect(ids.size).toBe(1);
  // no outcome is missing anywhere, and nothing is left to be sent again
  expect((await api.get('/v1/attention')).body.failedDeliveries).toEqual({ total: 0, queues: [] });
  expectProblem(await api.post('/v1/cases/again-1/deliveries/2/redeliver', {}), 'ended', 'not_open');
});

test('S2.1 an invitation whose court has lost its callback says so', async () => {
  const receiver = await startReceiver(() => 500);
  await openCourt('mute', { ...inviting, invitationCallback: receiver.callback }, ['mute-j'], ['mute-1']);
  await eventually(async () => receiver.received.length >= 1);
  await court('mute', inviting);
  const failed = await eventually(async () => (await deliveries('mute-1')).find((d) => d.state === 'failed'));
  expect(failed.error).toBe('the court has no callback for invitations any more');
});

test('S2.1 an invitation whose process died before its delivery is delivered by another one', async () => {
  const receiver = await startReceiver();
  await openCourt('orphan', { ...inviting, invitationCallback: receiver.callback }, ['orphan-j'], ['orphan-1']);
  await eventually(async () => receiver.received.length === 1);
  await eventually(async () => (await sql('select from delivery_start')).length === 0);
  // as a process leaves it behind that dies between its commit and the start
  await sql(`update delivery set state = 'pending' where item_id = 'orphan-1'`);
  await sql(`insert into delivery_start (kind, item_id, n) values ('case', 'orphan-1', 2)`);
  await eventually(async () => receiver.received.length === 2);
  await eventually(async () => (await sql('select from delivery_start')).length === 0);
});

test('S2.1 deliveries that Temporal refuses to start keep no other from its start', async () => {
  const receiver = await startReceiver();
  await openCourt('behind', { ...inviting, invitationCallback: receiver.callback }, ['behind-j'], []);
  // a workflow of such an id cannot be; more of them than are started at once
  await sql(`insert into delivery_start (kind, item_id, n, at)
             select 'case', repeat('long', 500), n, clock_timestamp() - interval '1 hour' from generate_series(1, 20) n`);
  await addCase('behind', { id: 'behind-1' });
  await eventually(async () => receiver.received.length === 1);
  expect(await sql('select from delivery_start')).toHaveLength(20);
  await sql('delete from delivery_start');
});

test('S2.1 settings show the callback of invitations; its secret is for administrators', async () => {
  const invitationCallback = { url: 'https://example.com/invited', secret: SECRET };
  expect(await court('shown', { invitationCallback })).toMatchObject({ invitationCallback });
  expect((await api.get('/v1/courts/shown')).body).toMatchObject({ invitationCallback });
  await court('shown', {});
  expect((await api.get('/v1/courts/shown')).body.invitationCallback).toBeNull();
});

test('S2.10 the invitations of a day are counted by the time zone of the court', async () => {
  const rules = (timezone: string) => ({ ...inviting, timezone, assign: assign({ perJurorPerDay: 1 }) });
  await openCourt('zones', rules('Etc/GMT+12'), ['zoe'], ['zones-1']);
  const { token } = await invitationOf('zoe');
  await voted('zones-1', token, 'buyer');
  await addCase('zones', { id: 'zones-2' });
  await askedInVain('zones-2');
  await court('zones', rules('Etc/GMT-14'));
  await invitationOf('zoe', 'zones-2');
});

test('S2.1 S2.5 assign.perJuror: so many open invitations of a person; a claim resumes the oldest, else grants one', async () => {
  const rules = { ...inviting, mode: 'both', assign: assign({ perJuror: 2 }) };
  expect(await court('two', rules)).toMatchObject({ assign: { perJuror: 2 } });
  // two accounts of one person
  await jurors(
    'two',
    ['two-a', 'two-b'].map((id) => ({ id, person: 'p', eligible: true, invite: true })),
  );
  const ids = numbered(3, 'two-');
  await addCases(
    'two',
    ids.map((id) => ({ id })),
  );
  // of whichever account
  const mine = () => invitations('two-a');
  const twoOf = async (...among: string[]) => {
    await eventually(async () => (await mine()).filter((i) => among.includes(i.case)).length === 2, PROMPT_MS);
    return mine();
  };
  const both = await twoOf(...ids);
  const left = ids.find((id) => both.every((i) => i.case !== id)) ?? '';
  await askedInVain(left);
  expect(await mine()).toHaveLength(2);
  const oldest = await cell("select item_id from lease where queue = 'two' order by granted_at limit 1");
  const resumed = await api.cases.claim('two', 'two-b');
  expect(resumed).toMatchObject({ resumed: true, case: { id: oldest } });
  await voted(oldest, resumed.lease.token, 'buyer');
  const rest = await twoOf(...ids.filter((id) => id !== oldest));
  for (const { case: id, token } of rest) await voted(id, token, 'seller');
  expect((await api.cases.claim('two', 'two-a')).case).toBeNull();
});

test('S2.10 a person is invited to no more cases than the day has votes left', async () => {
  const rules = { ...inviting, votesPerDay: 2, assign: assign({ perJuror: 5 }) };
  await openCourt('few', rules, ['fay'], numbered(4, 'few-'));
  await eventually(async () => (await invitations('fay')).length === 2, PROMPT_MS);
  for (const id of numbered(4, 'few-')) if ((await oneCase(id)).holds === 0) await askedInVain(id);
  expect(await invitations('fay')).toHaveLength(2);
});

test('S2.5 accounts claim and vote while their persons are invited: nobody ever holds more than perJuror', async () => {
  const accounts = numbered(20);
  const rules = { votesToWin: 3, overbook: 9, mode: 'both', assign: assign({ jurors: 3, perJuror: 2 }) };
  await court('crowd', rules);
  await jurors(
    'crowd',
    accounts.map((id, n) => ({ id, person: `p${n % 5}` })),
  );
  const adding = addCases(
    'crowd',
    numbered(40, 'crowd-').map((id) => ({ id })),
  );
  for (let round = 0; round < 6; round++)
    await Promise.all(
      accounts.map(async (juror) => {
        const { case: held, lease } = await api.cases.claim('crowd', juror);
        if (held) await api.cases.vote(held.id, lease.token, 'buyer');
      }),
    );
  await adding;
  const holds = () =>
    sql("select slot from lease where queue = 'crowd' and ended_at is null group by 1 having count(*) = 2");
  await eventually(async () => (await holds()).length === 5, PROMPT_MS);
  const most = await cell(`select max(n)::integer from (
    select count(*) as n from lease a join lease b on b.queue = a.queue and b.slot = a.slot
       and b.granted_at <= a.granted_at and (b.ended_at is null or b.ended_at > a.granted_at)
     where a.queue = 'crowd' group by a.token) s`);
  expect(most).toBe(2);
});
