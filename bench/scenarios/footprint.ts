import { setTimeout as sleep } from 'node:timers/promises';
import { onDatabase } from '../../test/support/database.ts';
import { openDocket } from '../docket.ts';
import type { Lab } from '../lab.ts';
import { addAll, workAll } from '../measure.ts';
import type { Report } from '../report.ts';
import { withRivals } from '../rivals/index.ts';
import type { Queues } from '../rivals/rival.ts';
import { short } from '../stats.ts';

const CALLERS = 16;
const MANY = 100;
/** So many are there at a time: pg-boss sorts all that is queued at each fetch. */
const AT_ONCE = 2_000;
/** What was begun for these jobs is written by then. */
const TOLD_MS = 1_000;
/** Processes pass on what they count when they have rested for ten seconds, if not before. */
const COUNTED_MS = 11_000;
/** Autovacuum comes to each database once a minute. */
const VACUUMED_MS = 75_000;

interface Wal {
  bytes: number;
  /** Of these: pages that were written whole, because they changed for the first time since the checkpoint. */
  pages: number;
}

interface Dead {
  rows: number;
  /** The table with most of them. */
  most: string;
}

interface Footprint {
  name: string;
  single: Wal;
  many: Wal;
  dead: Dead;
  /** Later, when autovacuum has been there. */
  left: Dead;
}

/** What jobs leave behind: write-ahead log, and dead rows (scenario 10). */
export async function footprint(lab: Lab, report: Report): Promise<void> {
  const [logged, many] = lab.quick ? [4_000, 10_000] : [20_000, 100_000];
  await withRivals(lab, ['pgBoss', 'graphile'], async (rivals) => {
    const theirs: Footprint[] = [];
    // else it comes to one of them while its dead rows are counted and not to another, and its log counts too
    await autovacuum(lab, 'off');
    for (const rival of rivals) theirs.push(await left(lab, rival, logged, many));
    // last, because the log is the whole server's, and followers go on when its callers are done
    const docket = await openDocket(lab);
    let ours: Footprint;
    try {
      ours = await left(lab, docket.http, logged, many);
      await autovacuum(lab, 'on');
      lab.say(`  ${VACUUMED_MS / 1000} s for autovacuum`);
      await sleep(VACUUMED_MS);
      ours.left = await deadIn(docket.http);
    } finally {
      await autovacuum(lab, 'on');
      await docket.stop();
    }
    for (const [n, rival] of rivals.entries()) if (theirs[n]) theirs[n].left = await deadIn(rival);
    write(report, logged, many, ours, theirs);
  });
}

async function autovacuum(lab: Lab, to: 'on' | 'off'): Promise<void> {
  await lab.sql(`alter system set autovacuum = ${to}`);
  await lab.sql('select pg_reload_conf()');
}

async function left(lab: Lab, queues: Queues, logged: number, many: number): Promise<Footprint> {
  const single = await walOf(lab, queues, logged, 1);
  const inBatches = await walOf(lab, queues, logged, MANY);
  await onDatabase(queues.databaseUrl ?? '', (client) => client.query('vacuum analyze'));
  await lives(queues, 'dead', many, MANY);
  await sleep(COUNTED_MS);
  const dead = await deadIn(queues);
  lab.say(
    `  ${queues.name}: ${walText(single)}; in batches ${walText(inBatches)}; ${dead.rows.toLocaleString('en-US')} dead rows`,
  );
  return { name: queues.name, single, many: inBatches, dead, left: dead };
}

/** Add, pop and finish of so many jobs. */
async function lives(queues: Queues, topic: string, jobs: number, batch: number): Promise<void> {
  for (let rest = jobs; rest > 0; rest -= AT_ONCE) {
    const n = Math.min(AT_ONCE, rest);
    await addAll(queues, topic, n, { callers: CALLERS, batch });
    await workAll(queues, topic, n, CALLERS, batch);
  }
}

async function walOf(lab: Lab, queues: Queues, jobs: number, batch: number): Promise<Wal> {
  const written = async () => {
    const [row] = await lab.sql<{ at: string }>('select pg_current_wal_flush_lsn()::text as at');
    return row?.at ?? '';
  };
  // the tables and the connections are there before it begins
  await lives(queues, `wal-${batch}`, 200, batch);
  await lab.sql('create extension if not exists pg_walinspect');
  await lab.sql('checkpoint');
  const from = await written();
  await lives(queues, `wal-${batch}`, jobs, batch);
  await sleep(TOLD_MS);
  const [sum] = await lab.sql<{ bytes: number; pages: number }>(
    `select ($2::pg_lsn - $1::pg_lsn)::double precision as bytes, sum(fpi_size)::double precision as pages
       from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)`,
    [from, await written()],
  );
  if (!sum) throw new Error('no figures about the log');
  return { bytes: sum.bytes / jobs, pages: sum.pages / jobs };
}

async function deadIn({ databaseUrl = '' }: Queues): Promise<Dead> {
  const { rows } = await onDatabase(databaseUrl, (client) =>
    client.query<{ relname: string; dead: number }>(
      'select relname, n_dead_tup::integer as dead from pg_stat_user_tables order by n_dead_tup desc',
    ),
  );
  const [first] = rows;
  return {
    rows: rows.reduce((sum, r) => sum + r.dead, 0),
    most: first ? `${nameOf(first.relname)} ${count(first.dead)}` : '',
  };
}

function write(report: Report, logged: number, many: number, ours: Footprint, theirs: Footprint[]): void {
  for (const kind of ['single', 'many'] as const)
    for (const rival of theirs)
      report.add({
        what: `WAL per job, ${kind === 'single' ? 'single' : `batches of ${MANY}`}, over ${count(logged)}`,
        figure: walText(ours[kind]),
        rival: `${rival.name}: ${walText(rival[kind])}`,
        ratio: ours[kind].bytes / rival[kind].bytes,
      });
  for (const rival of theirs)
    report.add({
      what: `dead rows after ${count(many)} jobs`,
      figure: deadText(ours),
      rival: `${rival.name}: ${deadText(rival)}`,
    });
}

const count = (n: number) => n.toLocaleString('en-US');
const walText = ({ bytes, pages }: Wal) => `${short(bytes)} bytes (${short(pages)} in full pages)`;
const deadText = ({ dead, left }: Footprint) => `${count(dead.rows)} (most: ${dead.most}), later ${count(left.rows)}`;
/** pg-boss names the table of a queue after its hash. */
const nameOf = (table: string) => (table.length > 20 ? `${table.slice(0, 8)}…` : table);
