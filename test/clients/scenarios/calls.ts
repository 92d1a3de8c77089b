import { expect } from 'vitest';
import { type Json, numbered } from '../../support/client.ts';
import { type Call, failure, NO_SERVER, named, refusal } from '../driver.ts';
import type { Scenarios } from '../scene.ts';
import { forgetful } from '../stand-ins.ts';

const BODY = { a: [1, 'ä', null] };
const statuses = (results: Json[]): number[] => results.map(({ httpStatus }) => httpStatus);

const queue = 'ticket-calls';
const id = (n: number) => `${queue}-${n}`;

/** Calls of who holds tickets. */
async function hold(call: Call): Promise<Json> {
  const { tickets } = await call('tickets.claim', queue, named({ reviewer: 'rita', count: 2 }));
  expect(tickets).toMatchObject([1, 2].map((n) => ({ id: id(n), resumed: false, lease: { reviewer: 'rita' } })));
  const [first, second] = tickets;
  expect((await call('tickets.renew', second)) >= second.lease.expiresAt).toBe(true);
  const decide = () => call('tickets.decide', first, { ok: true }, named({ next: true }));
  const decided = await decide();
  expect(decided).toMatchObject({ ticket: { state: 'decided', decision: { ok: true } }, next: { id: id(3) } });
  expect((await decide()).next.lease.token).toBe(decided.next.lease.token);
  const released = await call('tickets.release', second, named({ skip: true, reason: 'not mine' }));
  expect(released.state).toBe('waiting');
  expect(await failure(call('tickets.renew', second))).toMatchObject({
    ...{ error: 'LeaseLost', code: 'lease_lost', reason: 'released', holder: null, endedAt: expect.any(String) },
  });
  expect(await failure(call('tickets.decide', first, { ok: false }))).toMatchObject({
    ...{ error: 'NotOpen', code: 'not_open', state: 'decided', by: 'rita', reason: 'settled' },
  });
  const none = await call('tickets.claim', queue, named({ reviewer: 'rolf', skills: ['none'], count: 9 }));
  expect(none.reasons).toBeNull();
  // and the one that has no name
  expect(none.tickets.map((ticket: Json) => ticket.id)).toEqual([id(2), expect.any(String)]);
  const empty = await call('tickets.claim', `${queue}-empty`, named({ reviewer: 'rita' }));
  expect(empty).toMatchObject({ tickets: [], reasons: { held: 0 }, retryAfterSeconds: expect.any(Number) });
  expect(empty.retryAfterSeconds).toBeGreaterThan(0);
  return decided;
}

/** Calls of an operator. */
async function command(call: Call, mine: Json, unnamed: string): Promise<void> {
  const other = named({ queue: `${queue}-other`, reason: 'moved' });
  await call('tickets.change', id(3), { requires: ['math'], body: 'changed' });
  const changed = { priority: 9, requires: ['math'], body: 'changed' };
  expect(await call('tickets.reprioritize', id(3), 9)).toMatchObject(changed);
  await call('tickets.add', `${queue}-other`, { body: 'the first' });
  expect(await call('tickets.transfer', mine, other)).toMatchObject({ queue: `${queue}-other`, state: 'waiting' });
  const resolved = await call('tickets.resolve', id(2), named({ decision: 'no', reason: 'known' }));
  expect(resolved).toMatchObject({ state: 'decided', decision: 'no', reason: 'known' });
  for (let n = 0; n < 2; n++)
    expect((await call('tickets.invalidate', unnamed, named({ reason: 'gone' }))).state).toBe('invalidated');
  expect((await call('tickets.get', unnamed)).invalidation.reason).toBe('gone');
  const late = await failure(call('tickets.invalidate', id(1), named({ reason: 'late' })));
  expect(late).toMatchObject({ error: 'NotOpen', state: 'decided' });
}

/** More than one call takes, by number and by size. */
async function addLists(call: Call): Promise<void> {
  const ids = numbered(1005, `${queue}-bulk-`);
  const results: Json[] = await call(
    'tickets.addMany',
    `${queue}-bulk`,
    ids.map((name, body) => ({ id: name, body })),
  );
  expect(results.map((result) => result.id)).toEqual(ids);
  expect(new Set(statuses(results))).toEqual(new Set([201]));
  const large = Array(45).fill({ body: 'x'.repeat(190_000) });
  expect(statuses(await call('tickets.addMany', `${queue}-large`, large))).toEqual(Array(45).fill(201));
  const listed: Json[] = await call('tickets.list', named({ queue: `${queue}-bulk`, state: 'waiting' }));
  expect(new Set(listed.map((ticket) => ticket.id)).size).toBe(1005);
}

const court = 'case-calls';
const caseId = (n: number) => `${court}-${n}`;

/** Calls of jurors. */
async function judge(call: Call): Promise<void> {
  const claim = (juror: string) => call('cases.claim', court, juror);
  expect(await claim('party')).toMatchObject({ case: null, reasons: { party: 1 } });
  const { case: held } = await claim('ada');
  expect(held).toMatchObject({ id: caseId(1), resumed: false });
  expect((await claim('ada')).case).toMatchObject({ resumed: true, lease: { token: held.lease.token } });
  expect((await call('cases.renew', held)) >= held.lease.expiresAt).toBe(true);
  expect((await call('cases.release', held)).state).toBe('open');
  const lost = await failure(call('cases.renew', held));
  expect(lost).toMatchObject({ error: 'LeaseLost', code: 'lease_lost', reason: 'released' });
  const { case: anew } = await claim('ada');
  for (let n = 0; n < 2; n++)
    expect(await call('cases.vote', anew, 'buyer', named({ comment: 'clear' }))).toMatchObject({
      ...{ counted: true, case: { state: 'open', tally: { buyer: 1, seller: 0 } } },
    });
  expect(await claim('ada')).toMatchObject({ case: null, reasons: { voted: 1 } });
  const { case: last } = await claim('bob');
  const { case: late } = await claim('j1');
  expect(await refusal(call('cases.decline', last))).toBe('Http invalid_request');
  const decided = { counted: true, case: { state: 'decided', winner: 'buyer' } };
  expect(await call('cases.vote', last, 'buyer')).toMatchObject(decided);
  const closed = await failure(call('cases.vote', late, 'seller'));
  expect(closed).toMatchObject({ error: 'NotOpen', code: 'not_open', state: 'decided' });
}

const list = [...numbered(20_500, 'j'), 'ada', 'bob', 'party'];

/** Each call about tickets and cases, and lists that no single call takes. */
export const calls: Scenarios = {
  'S0.2 S0.4 S0.7 S0.8 S0.9 what is asked of tickets is answered, and what is refused has a type': async ({
    idle,
    connect,
  }) => {
    const call = connect({ servers: [idle.api.url] });
    expect(await call('tickets.putQueue', queue, { leaseSeconds: 60, maxHeld: 3 })).toMatchObject({ maxHeld: 3 });
    const one = { id: id(1), body: BODY, priority: 5 };
    const added = await call('tickets.add', queue, one);
    expect(added).toMatchObject({ id: id(1), body: BODY });
    expect(await call('tickets.add', queue, one)).toMatchObject({ id: id(1), body: BODY, version: added.version });
    const unnamed = await call('tickets.add', queue, { body: 'no id' });
    expect(unnamed.body).toBe('no id');
    const mixed: Json[] = await call('tickets.addMany', queue, [
      { id: id(2), body: null, priority: 4 },
      { id: 'not a name', body: null },
      { id: id(3), body: null, priority: 3 },
    ]);
    expect(mixed.map((result) => result.id)).toEqual([id(2), 'not a name', id(3)]);
    expect(statuses(mixed)).toEqual([201, 422, 201]);
    const { next } = await hold(call);
    await command(call, next, unnamed.id);
    expect((await call('tickets.events', id(1))).map(({ type }: Json) => type)).toEqual([
      'created',
      'claimed',
      'decided',
    ]);
    expect(await refusal(call('tickets.add', queue, { ...one, body: 'other' }))).toBe('Http id_conflict');
    expect(await refusal(call('tickets.get', 'nobody'))).toBe('Http not_found');
    expect(await refusal(call.with({ apiKey: 'wrong' })('tickets.get', id(1)))).toMatch(/^Auth/);
    expect(await refusal(call.with(NO_SERVER)('tickets.get', id(1)))).toBe('Unavailable');
    await addLists(call);
  },

  'S0.6 S0.7 a draft, the next ticket of another queue, and a decision about what has changed meanwhile': async ({
    idle,
    connect,
  }) => {
    const call = connect({ servers: [idle.api.url] });
    const [first, second] = ['drafts-1', 'drafts-2'];
    for (const name of [first, second]) await call('tickets.add', name, { id: name, body: 'seen' });
    const asked = named({ reviewer: 'rita', count: 1 });
    const claim = async () => (await call('tickets.claim', [second, first], asked)).tickets[0];
    const held = await claim();
    expect(held.id).toBe(second);
    const mine = named({ reviewer: 'rita' });
    expect(await call('tickets.getDraft', second, mine)).toBeNull();
    await call('tickets.putDraft', held, BODY);
    expect(await call('tickets.getDraft', second, mine)).toEqual({ draft: BODY, at: expect.any(String) });
    expect((await claim()).lease.draft).toEqual(BODY);
    await call('tickets.change', second, { body: 'changed' });
    const decide = (version: number) =>
      call('tickets.decide', held, 'ok', named({ version, next: true, queues: [first] }));
    expect(await refusal(decide(held.version))).toBe('Http changed');
    const decided = await decide((await call('tickets.get', second)).version);
    expect(decided).toMatchObject({ ticket: { state: 'decided' }, next: { id: first }, synced: 0 });
    expect(await failure(call('tickets.putDraft', held, BODY))).toMatchObject({ error: 'NotOpen', state: 'decided' });
  },

  'B.2 a model finds what it has not suggested anything for, suggests, and whoever claims is shown it': async ({
    idle,
    connect,
  }) => {
    const call = connect({ servers: [idle.api.url] });
    await call('tickets.putQueue', 'suggestions', { assist: { mode: 'suggest' } });
    await call('tickets.add', 'suggestions', { id: 'suggestions-1', body: BODY });
    const unsuggested = () => call('tickets.unsuggested', 'suggestions', named({ model: 'm', waitSeconds: 0.1 }));
    expect(await unsuggested()).toMatchObject([
      { id: 'suggestions-1', body: BODY, automation: 'none', suggestion: null },
    ]);
    const suggest = (confidence: number) =>
      call('tickets.suggest', 'suggestions-1', named({ model: 'm', decision: BODY, confidence, reasons: ['r'] }));
    const said = { model: 'm', decision: BODY, confidence: 0.5, reasons: ['r'] };
    for (let n = 0; n < 2; n++) expect(await suggest(0.5)).toEqual(said);
    expect(await refusal(suggest(0.6))).toBe('Http id_conflict');
    expect(await unsuggested()).toEqual([]);
    const { tickets } = await call('tickets.claim', 'suggestions', named({ reviewer: 'rita' }));
    expect(tickets[0].suggestion).toEqual(said);
    const decided = await call('tickets.decide', tickets[0], 'ok');
    expect(decided.ticket).toMatchObject({ automation: 'partial', suggestion: null });
    const other = call('tickets.suggest', 'suggestions-1', named({ model: 'n', decision: 1, confidence: 1 }));
    expect(await failure(other)).toMatchObject({ error: 'NotOpen', by: 'rita' });
  },

  'S0.4 all open tickets of a subject are resolved or invalidated by one call': async ({ idle, connect }) => {
    const call = connect({ servers: [idle.api.url] });
    const ids = numbered(3, 'subject-');
    const all = ids.map((id) => ({ id, body: null, subject: 'post-1' }));
    await call('tickets.addMany', 'subjects', all);
    await call('tickets.add', 'subjects-more', { body: null, subject: 'post-1' });
    expect((await call('tickets.change', ids[2] ?? '', { subject: 'post-2' })).subject).toBe('post-2');
    const resolve = (dryRun: boolean) =>
      call('tickets.resolveAll', { subject: 'post-1', queue: 'subjects' }, named({ decision: 1, reason: 'r', dryRun }));
    for (const dryRun of [true, false]) expect(await resolve(dryRun)).toMatchObject({ resolved: 2 });
    const gone = named({ reason: 'deleted' });
    for (const invalidated of [1, 0])
      expect(await call('tickets.invalidateAll', { subject: 'post-1' }, gone)).toMatchObject({ invalidated });
    const listed: Json[] = await call('tickets.list', named({ subject: 'post-1' }));
    expect(listed.map(({ state }) => state)).toEqual(['invalidated', 'decided', 'decided']);
  },

  'B.2 a second look is asked for, and quality says what it found': async ({ idle, connect }) => {
    const call = connect({ servers: [idle.api.url] });
    const ids = numbered(2, 'looked-');
    await call(
      'tickets.addMany',
      'looked',
      ids.map((id) => ({ id, body: null })),
    );
    for (const _ of ids) {
      const { tickets } = await call('tickets.claim', 'looked', named({ reviewer: 'anna' }));
      await call('tickets.decide', tickets[0], 'no');
    }
    const [one = '', other = ''] = ids;
    const appeal = await call('tickets.look', one, named({ cause: 'appeal', by: 'author', reason: 'why?' }));
    expect(appeal).toMatchObject({ of: { id: one, cause: 'appeal' }, state: 'waiting' });
    const overturn = named({ cause: 'overturn', by: 'lead', decision: 'yes' });
    expect(await call('tickets.look', one, overturn)).toMatchObject({ id: appeal.id, state: 'decided' });
    expect(await call('tickets.get', one)).toMatchObject({ standing: { decision: 'yes' }, looks: [{ id: appeal.id }] });
    expect(await failure(call('tickets.look', 'none', named({ cause: 'check' })))).toMatchObject({ code: 'not_found' });
    expect((await call('tickets.look', other, named({ cause: 'check', priority: 3 }))).priority).toBe(3);
    const found = await call('tickets.quality', 'looked');
    expect(found.items ?? found).toMatchObject([{ reviewer: 'anna', decided: 2, looked: 1, overturned: 1 }]);
  },

  'S2.1 S2.2 S2.3 what is asked of cases is answered, and what is refused has a type': async ({ connect }) => {
    const call = connect();
    const settings = { votesToWin: 2, overbook: 1, leaseSeconds: 60 };
    expect(await call('cases.putCourt', court, settings)).toMatchObject({ votesToWin: 2 });
    expect(await call('cases.putJurors', court, ['ada', { id: 'bob', person: 'robert' }])).toBe(2);
    expect(await call('cases.putJurors', court, list, named({ list: 'today' }))).toBe(20_503);
    const one = { id: caseId(1), parties: [{ id: 'party' }], body: BODY };
    const added = await call('cases.add', court, one);
    expect(added).toMatchObject({ id: caseId(1), body: BODY });
    expect(await call('cases.add', court, one)).toMatchObject({ id: caseId(1), body: BODY, version: added.version });
    const unnamed = await call('cases.add', court, { body: 'no id' });
    for (let n = 0; n < 2; n++)
      expect(await call('cases.invalidate', unnamed.id, named({ reason: 'gone' }))).toMatchObject({
        ...{ state: 'invalidated', endReason: 'gone' },
      });
    await judge(call);
    const bodies = [{ id: caseId(2), body: null }, { id: 'not a name', body: null }, { body: 3 }];
    const many: Json[] = await call('cases.addMany', court, bodies);
    expect(many.map((result) => typeof result.id)).toEqual(['string', 'string', 'string']);
    expect(statuses(many)).toEqual([201, 422, 201]);
    const { case: skipped } = await call('cases.claim', court, 'j2');
    await call('cases.release', skipped, named({ skip: true }));
    expect((await call('cases.claim', court, 'j2')).case?.id).not.toBe(skipped.id);
    expect((await call('cases.get', caseId(1))).winner).toBe('buyer');
    const appeal = () => call('cases.appeal', caseId(1), named({ reason: 'found', by: 'party' }));
    const second = await appeal();
    expect(second).toMatchObject({ state: 'open', of: { id: caseId(1), cause: 'appeal' } });
    expect((await appeal()).id).toBe(second.id);
    const looked = await call('cases.get', caseId(1));
    expect(looked).toMatchObject({ looks: [{ id: second.id, outcome: null }], standing: { winner: 'buyer' } });
    expect(await call('cases.invitations', 'ada')).toEqual([]);
    expect(await refusal(call('cases.get', 'nobody'))).toBe('Http not_found');
    expect(await refusal(call('cases.vote', skipped, 'nobody'))).toBe('Http invalid_request');
    expect(await refusal(call('cases.add', `${court}-none`, { body: null }))).toBe('Http not_found');
  },

  'S2.3 a list of jurors is whole, also where the answer to its last part was lost': async ({ api, connect }) => {
    const server = await forgetful(api.url, (call) => call.body.includes('"final":true'));
    const call = connect({ servers: [server.url] });
    await call('cases.putCourt', 'lost-list', {});
    expect(await call('cases.putJurors', 'lost-list', list, named({ list: 'today' }))).toBe(20_503);
    // two parts, and the last one again
    expect(server.calls.filter(({ body }) => body.includes('"list":'))).toHaveLength(3);
  },
};
