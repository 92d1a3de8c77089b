import { expect, test } from 'vitest';
import { addCases, claimed, court, invitations, jurors, oneCase, voted, votes } from '../../support/cases.ts';
import { type Client, eventually, type Json } from '../../support/client.ts';
import { createKey } from '../../support/keys.ts';
import type { TestSystem } from '../../support/system.ts';
import { allEnded, began, ended, endedWith, run, timesOf } from '../driver.ts';
import type { Kit } from '../kits.ts';
import { failing, forgetful } from '../stand-ins.ts';

/** What each client does with cases, whatever its language. */
export function testJuror(system: TestSystem, kit: Kit): void {
  testJudging(system, kit);
  testHolds(system, kit);
  testInvitations(system, kit);
}

const stateOf = async (api: Client, id: string): Promise<string> => (await oneCase(api, id)).state;
const caseEvents = async (api: Client, id: string): Promise<Json[]> =>
  (await api.get(`/v1/cases/${id}/events?limit=500`)).body.items;
/** A court with jurors, and its cases, one for each body. */
async function prepare(api: Client, name: string, settings: object, names: string[], bodies: object[]) {
  await court(api, name, settings);
  await jurors(api, name, names);
  const ids = bodies.map((_, n) => `${name}-${n}`);
  await addCases(
    api,
    name,
    bodies.map((body, n) => ({ id: ids[n], body })),
  );
  return ids;
}

function testJudging({ api, running }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S2.2 jurors decide cases, each voting once on each', async () => {
    const bodies = [{}, {}, { option: 'seller', comment: 'as agreed' }];
    const ids = await prepare(api, 'judged', { votesToWin: 2 }, ['ada', 'bob', 'cem'], bodies);
    const loops = ['ada', 'bob', 'cem'].map((juror) => run(kit, 'JurorLoop', { servers, court: 'judged', juror }));
    for (const id of ids) await eventually(async () => (await stateOf(api, id)) === 'decided');
    await allEnded(loops);
    const [first = '', , third = ''] = ids;
    expect((await oneCase(api, first)).winner).toBe('buyer');
    expect((await oneCase(api, third)).winner).toBe('seller');
    for (const vote of await votes(api, third)) expect(vote).toMatchObject({ option: 'seller', comment: 'as agreed' });
    for (const loop of loops) expect(new Set(began(loop)).size).toBe(began(loop).length);
    for (const loop of loops) expect(loop.lines('error')).toEqual([]);
  });

  test('S2.1 a juror passes a case, gives one back that the handler failed with, and goes on', async () => {
    const bodies = [
      { fail: 'skip', failures: 9 },
      { fail: 'error', failures: 1 },
      { fail: 'decline', failures: 9 },
    ];
    const [skipped = '', failing = '', declined = ''] = await prepare(
      api,
      'passed',
      { votesToWin: 1 },
      ['ada'],
      bodies,
    );
    const loop = run(kit, 'JurorLoop', { servers, court: 'passed', juror: 'ada' });
    await eventually(async () => (await stateOf(api, failing)) === 'decided');
    await eventually(async () => [skipped, declined].every((id) => began(loop).includes(id)));
    await ended(loop);
    const [first = 0, second = 0] = timesOf(loop, failing);
    expect(second - first).toBeGreaterThanOrEqual(1);
    for (const id of [skipped, declined]) {
      expect(timesOf(loop, id)).toHaveLength(1);
      expect((await caseEvents(api, id)).map((event) => event.type)).toEqual(['created', 'claimed', 'skipped']);
    }
    expect(loop.lines('error')).toMatchObject([{ text: expect.stringContaining('as asked'), item: failing }]);
  });

  test("S2.1 a juror works with a key of their own; another's ends the loop", async () => {
    const [id = ''] = await prepare(api, 'keyed-court', { votesToWin: 1 }, ['ada'], [{}]);
    const { key } = await createKey(running.runtime.db, { name: 'juror-ada', role: 'reviewer', subject: 'ada' });
    const asked = { servers, apiKey: key, court: 'keyed-court' };
    await endedWith(run(kit, 'JurorLoop', { ...asked, juror: 'bob' }), 'Auth');
    const loop = run(kit, 'JurorLoop', { ...asked, juror: 'ada' });
    await eventually(async () => (await stateOf(api, id)) === 'decided');
    await ended(loop);
  });

  test('S2.2 a vote whose answer was lost is sent again, and counted once', async () => {
    const [id = ''] = await prepare(api, 'lost-vote', { votesToWin: 2 }, ['ada'], [{}]);
    const server = await forgetful(api.url, (call) => call.body !== '');
    const loop = run(kit, 'JurorLoop', { servers: [server.url], court: 'lost-vote', juror: 'ada' });
    await eventually(async () => (await votes(api, id)).length === 1);
    await eventually(async () => server.calls.filter(({ path }) => path.endsWith('/votes')).length === 2);
    await ended(loop);
    expect((await oneCase(api, id)).tally).toEqual({ buyer: 1, seller: 0 });
    expect(began(loop)).toEqual([id]);
    // a claim is sent again by the loop, and that no server answered is an error of no case
    expect(loop.lines('error').filter((line) => line.item)).toEqual([]);
  });
}

function testHolds({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];

  test('S2.5 a handler that takes longer than the lease keeps its case', async () => {
    const [id = ''] = await prepare(api, 'long-case', { votesToWin: 1, leaseSeconds: 2 }, ['ada'], [{ seconds: 5 }]);
    const loop = run(kit, 'JurorLoop', { servers, court: 'long-case', juror: 'ada' });
    await eventually(async () => (await stateOf(api, id)) === 'decided');
    await ended(loop);
    expect((await caseEvents(api, id)).map((event) => event.type)).toEqual(['created', 'claimed', 'voted', 'decided']);
  });

  test('S2.5 a juror is killed: their hold ends, and another one judges', async () => {
    const settings = { votesToWin: 1, leaseSeconds: 2 };
    const [id = ''] = await prepare(api, 'killed-case', settings, ['ada', 'bob'], [{ seconds: 3 }]);
    const dying = run(kit, 'JurorLoop', { servers, court: 'killed-case', juror: 'ada' });
    await eventually(async () => began(dying).length === 1);
    dying.process.kill('SIGKILL');
    const other = run(kit, 'JurorLoop', { servers, court: 'killed-case', juror: 'bob' });
    await eventually(async () => (await stateOf(api, id)) === 'decided');
    await ended(other);
    expect((await votes(api, id)).map((vote) => vote.juror)).toEqual(['bob']);
  });

  test('S2.5 a vote at which the server fails each time is given up, and its case is given back', async () => {
    const [id = ''] = await prepare(api, 'failed-vote', { votesToWin: 1, leaseSeconds: 3 }, ['ada'], [{}]);
    const server = await failing(api.url, ({ path }) => path.endsWith('/votes'), 500);
    const given = { servers: [server.url], court: 'failed-vote', juror: 'ada', retrySeconds: 0.5 };
    const loop = run(kit, 'JurorLoop', given);
    const types = async () => (await caseEvents(api, id)).map((event) => event.type);
    await eventually(async () => (await types()).includes('released'), 15_000);
    await ended(loop);
    expect((await types()).slice(0, 3)).toEqual(['created', 'claimed', 'released']);
    expect(loop.lines('error')[0]).toMatchObject({ error: expect.stringContaining('Unavailable'), item: id });
  });

  test('S2.6 a case that is decided meanwhile: the handler hears of it, and no vote is sent', async () => {
    const settings = { votesToWin: 1, overbook: 1, leaseSeconds: 6 };
    const [id = ''] = await prepare(api, 'beside', settings, ['ada', 'bob'], [{ untilLost: true }]);
    const server = await forgetful(api.url, () => false);
    const loop = run(kit, 'JurorLoop', { servers: [server.url], court: 'beside', juror: 'ada' });
    await eventually(async () => began(loop).length === 1);
    const other = await claimed(api, 'beside', 'bob');
    await voted(api, other.id, other.token, 'seller');
    await eventually(async () => loop.lines('lost').length === 1);
    await ended(loop);
    expect(loop.lines('error')).toMatchObject([{ error: expect.stringContaining('NotOpen'), item: id }]);
    expect(server.calls.filter(({ path }) => path.endsWith('/votes'))).toEqual([]);
  });

  test('S2.5 told to stop, it votes when the running handler has ended, and begins nothing new', async () => {
    const bodies = [{ seconds: 1.5 }, { seconds: 1.5 }];
    const ids = await prepare(api, 'stop-case', { votesToWin: 1 }, ['ada'], bodies);
    const loop = run(kit, 'JurorLoop', { servers, court: 'stop-case', juror: 'ada' });
    await eventually(async () => began(loop).length === 1);
    await ended(loop);
    const [first = ''] = began(loop);
    expect(began(loop)).toHaveLength(1);
    expect(await stateOf(api, first)).toBe('decided');
    expect(await oneCase(api, ids.find((id) => id !== first) ?? '')).toMatchObject({ state: 'open', holds: 0 });
  });
}

function testInvitations({ api }: TestSystem, kit: Kit): void {
  const servers = [api.url];
  const assign = { jurors: 1, answerSeconds: 60 };

  test('S2.1 an invitation comes before a claim, and one that is declined goes to another juror', async () => {
    const settings = { votesToWin: 1, mode: 'both', assign };
    const [id = ''] = await prepare(api, 'invited', settings, ['ivy'], [{ fail: 'decline', failures: 1 }]);
    await eventually(async () => (await invitations(api, 'ivy')).length === 1);
    const first = run(kit, 'JurorLoop', { servers, court: 'invited', juror: 'ivy' });
    const typesOf = async () => (await caseEvents(api, id)).map((event) => event.type);
    await eventually(async () => (await typesOf()).includes('declined'));
    await ended(first);
    expect(first.lines('began')).toMatchObject([{ began: id, invited: true }]);
    await jurors(api, 'invited', ['joe']);
    await eventually(async () => (await invitations(api, 'joe')).length === 1);
    await voted(api, id, (await invitations(api, 'joe'))[0].token, 'seller');
    expect(await stateOf(api, id)).toBe('decided');
  });

  test('S2.1 where a court only invites, a juror judges what they are invited to', async () => {
    const settings = { votesToWin: 2, mode: 'assign', assign: { jurors: 2, answerSeconds: 60 } };
    const ids = await prepare(api, 'assigned', settings, ['ada', 'bob', 'cem'], [{}, {}]);
    const loops = ['ada', 'bob', 'cem'].map((juror) => run(kit, 'JurorLoop', { servers, court: 'assigned', juror }));
    for (const id of ids) await eventually(async () => (await stateOf(api, id)) === 'decided', 40_000);
    await allEnded(loops);
    for (const loop of loops) {
      expect(loop.lines('error')).toEqual([]);
      for (const line of loop.lines('began')) expect(line.invited).toBe(true);
    }
  });
}
