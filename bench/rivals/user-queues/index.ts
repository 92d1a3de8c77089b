import { fileURLToPath } from 'node:url';
import { onDatabase } from '../../../test/support/database.ts';
import { needDebian } from '../../../test/support/debian.ts';
import type { Lab } from '../../lab.ts';
import { gidOf, membersOf, type Population } from '../../tasks/population.ts';
import { ownDatabase, startServer } from '../rival.ts';

const TABLES = `
  create table member (person text, group_id text, primary key (person, group_id));
  create index on member (group_id);
  create table task (id text primary key, executor text not null, start_time timestamptz not null, params json not null,
                     dispatch text not null, dispatch_times integer not null, deleted boolean not null default false);
  create index on task (executor, start_time);
  create table stock (task_id text primary key, n integer not null);
  create table dispatch (log_id text primary key, uid text not null, task_id text not null,
                         at timestamptz not null default clock_timestamp(), completed_at timestamptz, result json);
  create index on dispatch (uid, task_id);`;

/** The scheme of ./scheme.ts as a process of its own, with the same clients and tasks as Docket. */
export async function openUserQueues(lab: Lab, population: Population) {
  needDebian('redis-server');
  const databaseUrl = await ownDatabase(lab, 'user_queues');
  await fill(databaseUrl, population);
  const redis = await startServer(lab, 'redis-tasks', 'redis-server', (port) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', lab.dir],
    ...['--save', '', '--appendonly', 'yes', '--appendfilename', 'tasks.aof', '--appendfsync', 'always'],
  ]);
  const script = fileURLToPath(new URL('server.mjs', import.meta.url));
  const server = await lab.child(script, [], { DATABASE_URL: databaseUrl, REDIS_PORT: String(redis.port) });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await redis.stop();
    },
  };
}

async function fill(databaseUrl: string, { groups, tasks }: Population): Promise<void> {
  const rows = tasks.map((t) => ({
    ...{ id: t.id, executor: t.executor, start_time: t.startTime, params: t.params },
    ...{ dispatch: t.dispatch, dispatch_times: t.dispatchTimes, deleted: false },
  }));
  const members = Array.from({ length: groups }, (_, n) => membersOf(n).map((person) => [person, gidOf(n)])).flat();
  await onDatabase(databaseUrl, async (client) => {
    await client.query(TABLES);
    await client.query('insert into task select * from json_populate_recordset(null::task, $1)', [
      JSON.stringify(rows),
    ]);
    await client.query('insert into stock select id, dispatch_times from task');
    await client.query('insert into member select * from unnest($1::text[], $2::text[])', [
      members.map(([person]) => person),
      members.map(([, group]) => group),
    ]);
    await client.query('vacuum analyze');
  });
}
