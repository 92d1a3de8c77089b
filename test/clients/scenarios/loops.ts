import { expect } from 'vitest';
import { claimed, voted } from '../../support/cases.ts';
import { type Client, eventually } from '../../support/client.ts';
import { began, ended, type Program } from '../driver.ts';
import type { Scenarios, Scene } from '../scene.ts';
import { away, failing, recorded } from '../stand-ins.ts';
import { alike, type KindName, workOf } from './kinds.ts';

const hasBegun = (loop: Program) => eventually(async () => began(loop).length === 1);

/** An item is withdrawn while a handler has it: nothing more is sent for it, and the loop goes on with the next. */
const loses =
  (of: KindName, error: string, withdraw: (api: Client, id: string) => Promise<unknown>, settings: object = {}) =>
  async (scene: Scene) => {
    const { api, prepare, start, done, kind } = workOf(scene, of);
    const name = `lost-${error}`;
    const [id = '', next = ''] = await prepare(name, [{ untilLost: true }, {}], { leaseSeconds: 9, ...settings });
    const server = await recorded(api.url);
    const loop = start(name, { servers: [server.url] });
    await eventually(async () => began(loop).includes(id));
    await withdraw(api, id);
    await done([next]);
    await eventually(async () => loop.lines('lost').length === 1);
    await ended(loop);
    expect(loop.lines('lost')).toEqual([{ lost: id }]);
    expect(loop.lines('error')).toMatchObject([{ error: expect.stringContaining(error), item: id }]);
    expect(server.calls.filter((call) => kind.ends(call, id))).toEqual([]);
  };

/** Another juror's vote on a case of the same court. @returns its id */
async function voteOf(juror: string, api: Client, id: string): Promise<string> {
  const other = await claimed(api, id.replace(/-\d+$/, ''), juror);
  await voted(api, other.id, other.token, 'seller');
  return other.id;
}

const WITHDRAWN = [
  loses('job', 'LeaseLost', (api, id) => api.post('/v1/jobs', { command: 'delete', id })),
  loses('ticket', 'NotOpen', (api, id) => api.post(`/v1/tickets/${id}/invalidate`, { reason: 'gone' })),
  loses('ticket', 'LeaseLost', async (api, id) => {
    await api.put('/v1/queues/elsewhere', {});
    return api.post(`/v1/tickets/${id}/transfer`, { queue: 'elsewhere' });
  }),
  loses(
    'case',
    'NotOpen',
    async (api, id) => {
      while ((await voteOf('bob', api, id)) !== id);
    },
    { overbook: 1 },
  ),
];

/** What loops of several kinds do alike. */
export const loops: Scenarios = {
  ...alike(
    'S0.7 S2.5 S3.5 a handler that takes longer than the lease or the TTR keeps its ticket, case or job',
    ['job', 'ticket', 'case'],
    async ({ prepare, work, history, kind }) => {
      const [id = ''] = await prepare('long', [{ seconds: 8 }], { leaseSeconds: 4 });
      const loop = await work('long', [id]);
      expect(loop.lines('began')).toMatchObject([{ began: id, ...kind.attempts[0] }]);
      expect(await history(id)).toEqual(kind.doneOnce);
    },
  ),

  ...alike(
    'S0.3 S4.3 it goes on with the next server when one answers 503 or none',
    ['task', 'ticket'],
    async ({ api, prepare, work }) => {
      const ids = await prepare('away', [{}, {}]);
      const loop = await work('away', ids, { servers: [...(await away()), api.url] });
      expect(loop.lines('error')).toEqual([]);
    },
  ),

  ...alike(
    'S0.7 S2.5 a reviewer or a juror is killed: their hold ends, and their ticket or case goes to another one',
    ['ticket', 'case'],
    async ({ prepare, start, work, history, kind }) => {
      const [id = ''] = await prepare('killed', [{ seconds: 3 }], { leaseSeconds: 2 });
      const dying = start('killed');
      await hasBegun(dying);
      dying.process.kill('SIGKILL');
      const other = await work('killed', [id], { person: 'bob' });
      expect(other.lines('began')).toMatchObject([{ began: id, ...kind.attempts[1] }]);
      expect((await history(id)).filter((type) => type === 'claimed')).toHaveLength(2);
    },
  ),

  ...alike(
    'S0.7 S2.5 S4.5 told to stop, it lets the running handler end, sends what it gave and begins nothing new',
    ['task', 'ticket', 'case'],
    async ({ prepare, start, history, kind }) => {
      const ids = await prepare('stop', Array(3).fill({ seconds: 1.5 }));
      const loop = start('stop');
      await hasBegun(loop);
      await ended(loop);
      expect(loop.lines('ended').map((line) => line.ended)).toEqual(began(loop));
      expect(began(loop)).toHaveLength(1);
      const untouched = kind.doneOnce.slice(0, kind.doneOnce.indexOf('created') + 1);
      for (const id of ids) expect(await history(id)).toEqual(id === began(loop)[0] ? kind.doneOnce : untouched);
    },
  ),

  ...alike(
    'S0.7 S2.5 a decision or a vote at which the server fails each time is given up, and its ticket or case is given back',
    ['ticket', 'case'],
    async ({ api, prepare, start, history }) => {
      const [id = ''] = await prepare('failed', [{}], { leaseSeconds: 3 });
      const { url } = await failing(api.url, ({ path }) => /\/(decide|votes)$/.test(path), 500);
      const loop = start('failed', { servers: [url], retrySeconds: 0.5, backoffSeconds: 60 });
      await eventually(async () => (await history(id)).includes('released'));
      await ended(loop);
      expect(began(loop)).toEqual([id]);
      expect(loop.lines('error')).toMatchObject([{ error: expect.stringContaining('Unavailable'), item: id }]);
      expect(await history(id)).toEqual(['created', 'claimed', 'released']);
    },
  ),

  'S0.4 S0.7 S2.6 S3.5 a job is deleted, a ticket invalidated or moved, a case decided: its handler hears of it, and nothing is sent':
    async (scene) => void (await Promise.all(WITHDRAWN.map((loses) => loses(scene)))),
};

/** What a loop does that runs its handlers in processes of their own. */
export const processes: Scenarios = alike(
  'S0.7 S3.5 S4.5 a handler whose process dies is one that failed',
  ['job', 'task', 'ticket'],
  async ({ prepare, work, kind }) => {
    const [id = ''] = await prepare('dies', [{ fail: 'exit', failures: 1 }]);
    const loop = await work('dies', [id]);
    expect(loop.lines('began')).toMatchObject(kind.attempts);
    expect(loop.lines('error')).toMatchObject([{ text: expect.stringContaining('ended before'), item: id }]);
  },
);
