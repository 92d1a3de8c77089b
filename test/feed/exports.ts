import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Launched, startExport } from '../support/child.ts';
import { eventually, repeat } from '../support/client.ts';
import { openTestDb } from '../support/database.ts';
import { note } from '../support/feed.ts';
import { addNew } from '../support/rows.ts';
import { startTestSystem, testStores } from '../support/system.ts';

interface Program {
  node: string;
  env: Record<string, string>;
}

/**
 * A server, and exports of its feed as processes of their own.
 * @param program what runs them
 */
export async function startFeed(program: Program = { node: process.execPath, env: {} }) {
  const stores = { ...(await testStores()), temporalAddress: '127.0.0.1:9' };
  const { api, sql } = await startTestSystem({ LOG_LEVEL: 'silent' }, { role: 'api', stores });
  const db = openTestDb(stores.databaseUrl, 4, 'writers');
  await sql(`insert into node (id, role, seen_at) values ('writers', 'api', clock_timestamp() + interval '1 hour')`);
  await db.run('ensure_queue', { kind: 'ticket', name: 'q' });
  let [tickets, events] = [0, 0];
  const addSome = async (count: number) => {
    const ids = repeat(count, () => `t${tickets++}`);
    await addNew(db, 'q', ids);
    events += count;
  };
  const run = (args: string[], env: Record<string, string> = {}): Launched =>
    startExport(['--from', api.url, ...args], { ...program.env, ...env }, program.node);
  /** Runs to the end of the feed. */
  const finish = async (args: string[]): Promise<string> => {
    const child = run(args);
    expect([await child.exited, child.output()]).toEqual([0, expect.stringContaining('up to position')]);
    return child.output();
  };
  /** Waits until an export has brought more than that many events. @param count how many are at the target */
  const brings = (child: Launched, wanted: number, count: () => number | Promise<number>) =>
    eventually(async () => {
      const now = await count();
      if (now > wanted) return true;
      throw new Error(`${now} events, not yet ${wanted}; ${child.output()}`);
    }, 60_000);
  /**
   * Tickets come all the while, with a second event for earlier ones, and the export is killed whenever it has brought
   * some more. At the end it is run once more to the end of the feed.
   */
  const killedAgainAndAgain = async (args: string[], count: () => number | Promise<number>, times = 10) => {
    let adding = true;
    const writing = (async () => {
      for (let n = 0; adding; await sleep(50)) {
        await addSome(30);
        await note(db, `t${n++}`);
        events++;
      }
    })();
    for (let kills = 0; kills < times; kills++) {
      const before = await count();
      const child = run([...args, '--follow']);
      await brings(child, before + 50 + kills * 17, count);
      expect(await child.end('SIGKILL')).toBeNull();
    }
    adding = false;
    await writing;
    await finish(args);
  };
  /** A ticket with a decision and a note, which the target has; then it is erased, and the export run again. */
  const erased = async (args: string[], id: string) => {
    await api.post('/v1/queues/q/tickets', { id, body: 'private' });
    await api.post(`/v1/tickets/${id}/notes`, { text: 'private', reviewer: 'anna' });
    await api.post(`/v1/tickets/${id}/resolve`, { decision: 'private', reason: 'private' });
    await finish(args);
    const { body } = await api.post('/v1/erasures', { item: { kind: 'ticket', id }, reason: 'asked for' });
    await eventually(async () => (await api.get(`/v1/erasures/${body.id}`)).body.state === 'done', 60_000);
    await finish(args);
  };
  return { api, sql, db, stores, erased, addSome, made: () => events, run, finish, brings, killedAgainAndAgain };
}
