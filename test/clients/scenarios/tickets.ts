import { expect } from 'vitest';
import { eventually, repeat } from '../../support/client.ts';
import { createKey } from '../../support/keys.ts';
import { hasPendingSignal } from '../../support/processes.ts';
import { addMany, claim, configure, ticket } from '../../support/tickets.ts';
import { allEnded, began, ended, endedWith, expectBegun } from '../driver.ts';
import { callsOf, forgetful, recorded, unwilling } from '../stand-ins.ts';
import { scenariosOf } from './kinds.ts';

/** What each client's loop does with tickets alone. */
export const reviewer = scenariosOf('ticket', {
  'S0.6 S0.8 two reviewers decide 60 tickets, each once, the next one coming with the decision': async (scene) => {
    const { api, prepare, start, done } = scene;
    const ids = await prepare('many', Array(60).fill({}));
    const server = await recorded(api.url);
    const loops = ['ada', 'bob'].map((person) => start('many', { person, servers: [server.url] }));
    await done(ids);
    const claims = callsOf(server, '/claim');
    await allEnded(loops);
    expect(began(...loops).sort()).toEqual(ids.toSorted());
    expect(callsOf(server, '/decide')).toBe(60);
    // otherwise each ticket would need a claim
    expect(claims).toBeLessThan(30);
    for (const loop of loops) expect(loop.lines('error')).toEqual([]);
    expect((await ticket(api, ids[0] ?? '')).decision).toEqual({ of: ids[0], empty: {} });
  },

  'S0.6 one reviewer works on as many at once as the queue lets them hold, each once': async (scene) => {
    const { api, prepare, start, done } = scene;
    const ids = await prepare(
      'at-once',
      repeat(12, (n) => ({ seconds: n % 2 === 0 ? 0.1 : 1.2 })),
      { maxHeld: 3 },
    );
    const loop = start('at-once', { concurrency: 3 });
    await eventually(async () => began(loop).length >= 3);
    expect(loop.lines('ended').length).toBeLessThan(3);
    await done(ids);
    const later = await addMany(api, 'at-once', [{ id: 'at-once-later', body: {} }]);
    await done(later);
    await ended(loop);
    expect(began(loop).sort()).toEqual([...ids, ...later].sort());
    expect(loop.lines('error')).toEqual([]);
  },

  'S0.5 a reviewer gets what they have the skills for, with a key that is theirs': async (scene) => {
    const { api, running, start, work } = scene;
    const requires = [['math'], ['law'], ['math']];
    const ids = await addMany(
      api,
      'skilled',
      requires.map((skills, n) => ({ id: `skilled-${n}`, body: {}, requires: skills })),
    );
    const { key } = await createKey(running.runtime.db, { name: 'ada', role: 'reviewer', subject: 'ada' });
    const skilled = { apiKey: key, skills: ['math'] };
    const fitting = ids.filter((_, n) => requires[n]?.includes('math'));
    expect(began(await work('skilled', fitting, skilled))).toEqual(fitting);
    await endedWith(start('skilled', { ...skilled, person: 'bob' }), 'Auth');
  },

  'S0.7 a ticket that comes after it was told to stop is given back at once': async ({ api, start, history }) => {
    await configure(api, 'stopped', { leaseSeconds: 600 });
    const server = await recorded(api.url);
    const loop = start('stopped', { servers: [server.url], waitSeconds: 8 });
    await eventually(async () => callsOf(server, '/claim') === 1);
    loop.process.kill('SIGTERM');
    await eventually(async () => !hasPendingSignal(loop.process.pid ?? 0));
    const [id = ''] = await addMany(api, 'stopped', [{ id: 'stopped-late', body: {} }]);
    expect(await loop.exited, loop.output()).toBe(0);
    expect(began(loop)).toEqual([]);
    expect(await history(id)).toEqual(['created', 'claimed', 'released']);
  },

  'S0.7 a ticket that was held before is kept, however near its end it is': async (scene) => {
    const { api, prepare, work, history, kind } = scene;
    const [id = ''] = await prepare('old', [{ seconds: 7 }], { leaseSeconds: 6 });
    const [held] = (await claim(api, 'old', 'ada')).tickets;
    expect(held.id).toBe(id);
    // a third of it, until the first renewal of what is claimed anew, is more than there is left
    await configure(api, 'old', { leaseSeconds: 21 });
    await work('old', [id]);
    expect(await history(id)).toEqual(kind.doneOnce);
  },

  'S0.7 S0.9 a decision that no server takes for longer than a call is repeated is sent until one does': async (
    scene,
  ) => {
    const { api, prepare, work, history, kind } = scene;
    const [id = ''] = await prepare('late', [{}], { leaseSeconds: 3 });
    const { url } = await unwilling(api.url, 12, '/decide');
    const loop = await work('late', [id], { servers: [url], retrySeconds: 0.5 });
    expect(began(loop)).toEqual([id]);
    expect(await history(id)).toEqual(kind.doneOnce);
  },

  'S0.7 a handler that fails gives its ticket back, later each time, or when and how it says': async (scene) => {
    const { prepare, work, history } = scene;
    const [twice = '', said = '', skipped = ''] = await prepare('fails', [
      { fail: 'error', failures: 2 },
      { fail: 'release', failures: 1, delay: 1.5 },
      { fail: 'skip', failures: 9 },
    ]);
    const loop = await work('fails', [twice, said]);
    expectBegun(loop, twice, [1, 2]);
    expectBegun(loop, said, [1.5]);
    expectBegun(loop, skipped);
    expect(await history(skipped)).toEqual(['created', 'claimed', 'skipped']);
    expect(loop.lines('error').map((line) => line.item)).toEqual([twice, twice]);
  },

  'S0.8 a decision that the form of the queue refuses counts as a failure': async ({ api, prepare, start }) => {
    const form = { type: 'object', required: ['verdict'] };
    const [id = ''] = await prepare('form', [{}], { form });
    const loop = start('form', { backoffSeconds: 60 });
    await eventually(async () => (await ticket(api, id)).state === 'delayed');
    await ended(loop);
    expect(loop.lines('error')).toMatchObject([{ error: expect.stringContaining('Http'), item: id }]);
    expect(began(loop)).toEqual([id]);
  },

  'S0.8 S0.9 what was done but not answered is sent again, and done once': async (scene) => {
    const { api, prepare, work, history, kind } = scene;
    const ids = await prepare('again', [...Array(5).fill({}), { fail: 'release', failures: 1, delay: 0 }]);
    const { url } = await forgetful(api.url, () => true);
    const loop = await work('again', ids, { servers: [url] });
    const [last = '', ...others] = ids.toReversed();
    expect(began(loop).sort()).toEqual([...ids, last].sort());
    // a claim is sent again by the loop, and that no server answered is an error of no ticket
    expect(loop.lines('error').filter((line) => line.item)).toEqual([]);
    for (const id of others) expect(await history(id)).toEqual(kind.doneOnce);
    expect(await history(last)).toEqual(['created', 'claimed', 'released', 'claimed', 'decided']);
  },

  'S0.9 a ticket without an id whose answer was lost is added once': async ({ api, connect }) => {
    const server = await forgetful(api.url, (call) => call.path.endsWith('/tickets'));
    await connect({ servers: [server.url] })('tickets.add', 'keyed-calls', { body: 'no id' });
    expect(server.calls).toHaveLength(2);
    const { body } = await api.get(`/v1/tickets?queue=keyed-calls&limit=500`);
    expect(body.items).toMatchObject([{ body: 'no id' }]);
  },
});
