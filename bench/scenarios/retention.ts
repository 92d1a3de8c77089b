import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Caller, openCallers } from '../client.ts';
import { forgetUnpublished, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { BODY, seedTickets } from '../seed.ts';
import { median, ms, quantile, short } from '../stats.ts';
import { oneTurn } from './depth.ts';
import { until } from './steady.ts';

const CALLERS = 8;
const WAITING = 1_000;
const STEP = 500_000;
const RULES = 'ticket/past=1';
const ALONE_MS = 20_000;

/** Claims beside the clearing of millions of finished tickets, and without it (scenario 19). */
export async function retention(lab: Lab, report: Report): Promise<void> {
  const [finished, rounds, turns] = lab.quick ? [50_000, 2, 200] : [10_000_000, 5, 1_500];
  await seedPast(lab, finished);
  await seedTickets(lab, 'live', WAITING);
  await forgetUnpublished(lab);
  const archive = join(lab.dir, 'archive');
  mkdirSync(archive);
  const p99: Record<'with' | 'without', number[]> = { with: [], without: [] };
  const p50: Record<'with' | 'without', number[]> = { with: [], without: [] };
  const rates: number[] = [];
  for (let round = -1; round < rounds; round++) {
    for (const how of ['without', 'with'] as const) {
      const docket = await lab.docket(how === 'with' ? { DOCKET_RETENTION_DAYS: RULES, DOCKET_ARCHIVE: archive } : {});
      try {
        const before = await left(lab);
        if (how === 'with') await until(async () => (await left(lab)) < before);
        const [from, start] = [await left(lab), performance.now()];
        const took = await claims(docket.url, turns);
        const seconds = (performance.now() - start) / 1000;
        if (round < 0) continue; // the first one warms up
        p99[how].push(quantile(took, 0.99));
        p50[how].push(quantile(took, 0.5));
        if (how === 'with') rates.push((from - (await left(lab))) / seconds);
        lab.say(`  ${how}: p50 ${ms(quantile(took, 0.5))}, p99 ${ms(quantile(took, 0.99))}`);
      } finally {
        await docket.stop();
      }
    }
  }
  report.add({
    what: `claim p99 while ${finished.toLocaleString('en-US')} finished tickets are archived and cleared`,
    figure: `${ms(median(p99.with))} (p50 ${ms(median(p50.with))})`,
    rival: `without: ${ms(median(p99.without))} (p50 ${ms(median(p50.without))})`,
    ratio: median(p99.with) / median(p99.without),
    target: { most: 1.2 },
  });
  report.add({ what: 'cleared meanwhile', figure: `${short(median(rates))} tickets/s; ${archived(archive)}` });
  report.add({ what: 'cleared while idle', figure: `${short(await aloneRate(lab, archive))} tickets/s` });
}

/** Tickets cleared a second beside nothing. */
async function aloneRate(lab: Lab, archive: string): Promise<number> {
  const docket = await lab.docket({ DOCKET_RETENTION_DAYS: RULES, DOCKET_ARCHIVE: archive });
  try {
    const before = await left(lab);
    await until(async () => (await left(lab)) < before);
    const [from, start] = [await left(lab), performance.now()];
    await sleep(ALONE_MS);
    return ((from - (await left(lab))) * 1000) / (performance.now() - start);
  } finally {
    await docket.stop();
  }
}

/** As they stand when they were added, claimed and decided, over two years; written past the triggers, which would take hours. */
async function seedPast(lab: Lab, n: number): Promise<void> {
  const start = performance.now();
  const client = new pg.Client({ connectionString: lab.databaseUrl });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    await client.query(`insert into queue (kind, name) values ('ticket', 'past')`);
    for (let from = 0; from < n; from += STEP) {
      const to = Math.min(n, from + STEP);
      await client.query(
        `with past as (
           insert into item (kind, id, queue, state, rank, body, content_hash, version, attempts, created_at, available_at, first_available_at,
                             ended_at, ended_by, result, settled_token, event_seq, last_event, last_actor, updated_at)
           select 'ticket', 'past-' || n, 'past', 'settled', n, $1, sha256(n::text::bytea), 1, 1, t.at, t.at, t.at, t.at + interval '1 hour', 'anna',
                  '1', sha256(n::text::bytea), 3, 'decided', 'anna', t.at + interval '1 hour'
             from generate_series($2::bigint, $3) n
            cross join lateral (select now() - interval '2 years' + n::double precision / $4::bigint * interval '600 days' as at) t returning id, created_at)
         insert into event (kind, item_id, seq, type, actor, at, data, token, ends)
         select 'ticket', id, s, (array['created', 'claimed', 'decided'])[s], 'anna', created_at + s * interval '20 minutes',
                case s when 2 then '{"attempt":1}'::json end, case s when 2 then sha256(id::bytea) end, case s when 3 then 2 end
           from past cross join generate_series(1, 3) s`,
        [JSON.stringify(BODY), from, to - 1, n],
      );
    }
    await client.query(`insert into tally_sum (kind, queue, what, n) values ('ticket', 'past', 'settled', $1)`, [n]);
    await client.query('vacuum analyze item, event');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
  const [size] = await lab.sql<{ size: string }>('select pg_size_pretty(pg_database_size(current_database())) as size');
  const seconds = (performance.now() - start) / 1000;
  lab.say(`  ${n.toLocaleString('en-US')} finished tickets, ${size?.size}, after ${seconds.toFixed(0)} s`);
}

const left = async (lab: Lab): Promise<number> =>
  Number(
    (await lab.sql<{ n: string }>(`select sum(n) as n from tally where queue = 'past' and what = 'settled'`))[0]?.n,
  );

/** For each ticket taken one is added. @returns what each claim took, in ms */
async function claims(url: string, turns: number): Promise<number[]> {
  const took: number[] = [];
  const callers = await openCallers(url, CALLERS);
  const work = async (caller: Caller, reviewer: string) => {
    for (let turn = 0; turn < turns; turn++) took.push(await oneTurn(caller, 'live', reviewer));
  };
  await Promise.all(callers.map((caller, n) => work(caller, `r${n}`)));
  for (const caller of callers) caller.close();
  return took;
}

function archived(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  return `${files.length.toLocaleString('en-US')} files of the archive, ${short(bytes / 1e6)} MB`;
}
