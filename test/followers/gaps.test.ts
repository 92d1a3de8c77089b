import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import pg from 'pg';
import { inject, test } from 'vitest';
import type { Db } from '../../db/pool.ts';
import { Follower } from '../../runtime/followers/follower.ts';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';
import { add, addMany } from '../support/tickets.ts';

const { api, running, sql, databaseUrl, namespace } = await startTestSystem({}, { role: 'api' });
const { db, client, node, log } = running.runtime;
/** No worker runs: what Temporal says itself. */
const started = (id: string) => eventually(() => client.workflow.getHandle(`ticket/${id}`).describe());

/** The same, but at the given reading of the log something happens first. */
function interrupted(reading: number, happens: () => Promise<unknown>): Db {
  let n = 0;
  const run = async (name: never, params: never) => {
    if (name === 'follow_log' && ++n === reading) await happens();
    return db.run(name, params);
  };
  return { ...db, run } as unknown as Db;
}

test('S0.9 a line that is committed late is published, also while another lane has still to read what is before it', async () => {
  // more than are read at once
  for (let n = 0; n < 2; n++) await addMany(api, 'behind', Array<object>(750).fill({}));
  const late = new pg.Client({ connectionString: databaseUrl });
  await late.connect();
  await add(api, 'late', { id: 'late', delaySeconds: 3600 });
  // as after a takeover: one lane is far behind the others
  await sql('update log_shard set outcomes = last, rest = last from (select max(id) as last from event) e');
  await late.query('begin');
  await late.query(`update item set version = nextval('item_version'), event_seq = event_seq + 1, last_event = 'changed',
    priority = 7, updated_at = clock_timestamp() where kind = 'ticket' and id = 'late'`);
  await add(api, 'late', { id: 'next', delaySeconds: 3600 });

  // the first reading is of the lane that is behind, the second of the others, which finds the gap
  const follower = new Follower({
    ...{ node, log, pacemaker: true, callers: { slowdown: undefined } },
    db: interrupted(3, () => late.query('commit')),
    ...{ publishConcurrency: 10, publishIdlePerSecond: 1_000, publishBusyPerSecond: 1_000 },
    ...{ waitingWorkflows: 0, skipEndedSeconds: 3_600 },
  });
  const connection = await NativeConnection.connect({ address: inject('temporal') });
  follower.start(new Client({ connection, namespace }));
  try {
    await started('next');
    await started('late');
    await eventually(async () => follower.pending === 0);
  } finally {
    await follower.stop();
    await connection.close();
    await late.end();
  }
});
