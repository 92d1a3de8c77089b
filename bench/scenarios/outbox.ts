import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type OpenDocket, openDocket } from '../docket.ts';
import { drained, type Lab } from '../lab.ts';
import { warmUp } from '../measure.ts';
import type { Report } from '../report.ts';
import type { Queues } from '../rivals/rival.ts';
import { figureOf, quantile, short } from '../stats.ts';
import { offered, PER_SECOND } from './end-to-end.ts';

const DATABASE = 'callers';
const WARM_SECONDS = 5;
const QUIET_PER_SECOND = 20;
const PROGRAM = fileURLToPath(new URL('../../cli/docket.mjs', import.meta.url));
const SIZE = `select sum(pg_total_relation_size(oid))::int as bytes from pg_class
  where relnamespace = 'docket_outbox'::regnamespace and relkind = 'r' and relname like 'message%'`;

/** Jobs added by SQL transactions in a database of the caller's, with a follower beside it (scenario 21). */
export async function outbox(lab: Lab, report: Report): Promise<void> {
  const [seconds, rows] = lab.quick ? [10, 10_000] : [60, 100_000];
  await lab.sql(`create database ${DATABASE}`);
  const url = new URL(`/${DATABASE}`, lab.databaseUrl).href;
  execFileSync(process.execPath, [PROGRAM, 'outbox', 'install', url]);
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  const docket = await openDocket(lab);
  const follower = await lab.child(PROGRAM, ['outbox', 'follow', url], { DOCKET_URL: docket.url });
  try {
    await warmUp(docket.http, WARM_SECONDS);
    await drained(lab);
    const measure = async (perSecond: number, name = '') => {
      const overHttp = await offered(docket.http, seconds, perSecond);
      const took = await offered(adding(docket, pool), seconds, perSecond);
      report.add({
        what: `transaction → received at ${perSecond}/s${name}`,
        figure: figureOf(took),
        rival: `added over HTTP: ${figureOf(overHttp)}`,
        ratio: quantile(took, 0.99) / quantile(overHttp, 0.99),
        measured: { value: quantile(took, 0.99), unit: 'ms p99' },
        target: { most: 50 },
      });
      return took.length;
    };
    await measure(QUIET_PER_SECOND);
    await measure(PER_SECOND);
    const open = await pool.connect();
    await open.query('begin isolation level repeatable read');
    await open.query('select count(*) from pg_class');
    const added = await measure(PER_SECOND, ', beside an open transaction');
    const { bytes } = (await pool.query<{ bytes: number }>(SIZE)).rows[0] ?? { bytes: 0 };
    await open.query('rollback');
    open.release();
    const figure = `${short(bytes / 1024 ** 2)} MB after ${added.toLocaleString('en-US')} rows`;
    report.add({ what: 'size of the outbox then', figure });
    const took = await manyAtOnce(pool, rows);
    report.add({ what: `${rows.toLocaleString('en-US')} rows at once`, figure: `${short(rows / took)} a second` });
  } finally {
    await follower.stop();
    await docket.stop();
    await pool.end();
  }
}

/** Docket over HTTP, with jobs that are added by transactions. */
const adding = ({ http }: OpenDocket, pool: pg.Pool): Queues => ({
  ...http,
  callers: async (n) =>
    (await http.callers(n)).map((caller) => ({
      ...caller,
      async add(topic, jobs) {
        const client = await pool.connect();
        await client.query('begin');
        for (const { id, body } of jobs)
          await client.query('select docket_outbox.add_job($1, $2, $3)', [topic, id, JSON.stringify(body)]);
        await client.query('commit');
        client.release();
      },
    })),
});

/** @returns seconds until the follower has deleted the last row of one transaction */
async function manyAtOnce(pool: pg.Pool, rows: number): Promise<number> {
  const add = `select count(docket_outbox.add_job('many', 'many-' || n, to_jsonb(n))) from generate_series(1, $1::int) n`;
  await pool.query(add, [rows]);
  const start = performance.now();
  const left = 'select from docket_outbox.message limit 1';
  while ((await pool.query(left)).rows.length > 0) await sleep(20);
  return (performance.now() - start) / 1000;
}
