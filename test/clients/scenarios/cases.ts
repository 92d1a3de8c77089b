import { expect } from 'vitest';
import { invitations, jurors, oneCase, voted, votes } from '../../support/cases.ts';
import { type Client, eventually } from '../../support/client.ts';
import { createKey } from '../../support/keys.ts';
import { allEnded, began, ended, endedWith, expectBegun } from '../driver.ts';
import { callsOf, forgetful } from '../stand-ins.ts';
import { scenariosOf } from './kinds.ts';

const JURORS = ['ada', 'bob', 'cem'];
const isInvited = (api: Client, juror: string) => eventually(async () => (await invitations(api, juror)).length === 1);

/** What each client's loop does with cases alone. */
export const juror = scenariosOf('case', {
  'S2.2 jurors decide cases, each voting once on each': async ({ api, prepare, start, done }) => {
    const bodies = [{}, {}, { option: 'seller', comment: 'as agreed' }];
    const ids = await prepare('judged', bodies, { votesToWin: 2, jurors: JURORS });
    const loops = JURORS.map((person) => start('judged', { person }));
    await done(ids);
    await allEnded(loops);
    const [first = '', , third = ''] = ids;
    expect((await oneCase(api, first)).winner).toBe('buyer');
    expect((await oneCase(api, third)).winner).toBe('seller');
    for (const vote of await votes(api, third)) expect(vote).toMatchObject({ option: 'seller', comment: 'as agreed' });
    for (const loop of loops) expect(new Set(began(loop)).size).toBe(began(loop).length);
    for (const loop of loops) expect(loop.lines('error')).toEqual([]);
  },

  'S2.1 a juror passes a case, gives one back that the handler failed with, and goes on': async (scene) => {
    const { prepare, start, done, history } = scene;
    const bodies = ['skip', 'error', 'decline'].map((fail) => ({ fail, failures: fail === 'error' ? 1 : 9 }));
    const [skipped = '', failing = '', declined = ''] = await prepare('passed', bodies, { jurors: ['ada'] });
    const loop = start('passed');
    await done([failing]);
    await eventually(async () => [skipped, declined].every((id) => began(loop).includes(id)));
    await ended(loop);
    expectBegun(loop, failing, [1]);
    for (const id of [skipped, declined]) {
      expectBegun(loop, id);
      expect(await history(id)).toEqual(['created', 'claimed', 'skipped']);
    }
    expect(loop.lines('error')).toMatchObject([{ text: expect.stringContaining('as asked'), item: failing }]);
  },

  "S2.1 a juror works with a key of their own; another's ends the loop": async (scene) => {
    const { running, prepare, start, work } = scene;
    const ids = await prepare('keyed', [{}], { jurors: ['ada'] });
    const { key: apiKey } = await createKey(running.runtime.db, { name: 'juror', role: 'reviewer', subject: 'ada' });
    await endedWith(start('keyed', { apiKey, person: 'bob' }), 'Auth');
    await work('keyed', ids, { apiKey });
  },

  'S2.2 a vote whose answer was lost is sent again, and counted once': async ({ api, prepare, start }) => {
    const [id = ''] = await prepare('lost-vote', [{}], { votesToWin: 2, jurors: ['ada'] });
    const server = await forgetful(api.url, (call) => call.body !== '');
    const loop = start('lost-vote', { servers: [server.url] });
    await eventually(async () => (await votes(api, id)).length === 1);
    await eventually(async () => callsOf(server, '/votes') === 2);
    await ended(loop);
    expect((await oneCase(api, id)).tally).toEqual({ buyer: 1, seller: 0 });
    expect(began(loop)).toEqual([id]);
    // a claim is sent again by the loop, and that no server answered is an error of no case
    expect(loop.lines('error').filter((line) => line.item)).toEqual([]);
  },

  'S2.1 an invitation comes before a claim, and one that is declined goes to another juror': async (scene) => {
    const { api, prepare, start, history } = scene;
    const assign = { jurors: 1, answerSeconds: 60 };
    const settings = { mode: 'both', assign, jurors: ['ivy'] };
    const [id = ''] = await prepare('invited', [{ fail: 'decline', failures: 1 }], settings);
    await isInvited(api, 'ivy');
    const first = start('invited', { person: 'ivy' });
    await eventually(async () => (await history(id)).includes('declined'));
    await ended(first);
    expect(first.lines('began')).toMatchObject([{ began: id, invited: true }]);
    await jurors(api, 'invited', ['joe']);
    await isInvited(api, 'joe');
    await voted(api, id, (await invitations(api, 'joe'))[0].token, 'seller');
    expect((await oneCase(api, id)).state).toBe('decided');
  },

  'S2.1 where a court only invites, a juror judges what they are invited to': async ({ prepare, start, done }) => {
    const assign = { jurors: 2, answerSeconds: 60 };
    const settings = { votesToWin: 2, mode: 'assign', assign, jurors: JURORS };
    const ids = await prepare('assigned', [{}, {}], settings);
    const loops = JURORS.map((person) => start('assigned', { person }));
    await done(ids);
    await allEnded(loops);
    for (const loop of loops) {
      expect(loop.lines('error')).toEqual([]);
      for (const line of loop.lines('began')) expect(line.invited).toBe(true);
    }
  },
});
