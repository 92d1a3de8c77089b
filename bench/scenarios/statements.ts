import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addItems, type NewItem, settleItems } from '../../db/items.ts';
import { migrate } from '../../db/migrate.ts';
import { openDb } from '../../db/pool.ts';
import { contentHash, newToken } from '../../services/shared/tokens.ts';
import { emptyDatabase, rowsOf } from '../../test/support/database.ts';
import { EDITION_1, releaseOf } from '../../test/support/releases.ts';
import type { Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { newItem } from '../seed.ts';
import { median, ms, repeat, short } from '../stats.ts';

const QUEUE = 'pair';
const BATCH = 2_000;
const CALLERS = [1, 8];

/** What a release does in PostgreSQL, by its own code and over connections of its own. */
interface Layer {
  add(items: NewItem[]): Promise<unknown>;
  claim(person: string, token: string): Promise<{ id: string }[]>;
  settle(id: string, token: string): Promise<unknown[]>;
  end(): Promise<void>;
}

/** Claim and decide as statements alone, with the schema of 0.1.0 beside today's (scenario 20). */
export async function statements(lab: Lab, report: Report): Promise<void> {
  const [waiting, rounds, seconds] = lab.quick ? [20_000, 2, 2] : [80_000, 5, 5];
  const earlierUrl = await emptyDatabase(lab.postgresUrl);
  const todayUrl = await emptyDatabase(lab.postgresUrl);
  const earlier = await layerOfEdition1(lab, earlierUrl);
  const today = await layerOfToday(todayUrl);
  const databases = [earlierUrl, todayUrl];
  try {
    for (const layer of [earlier, today]) await fill(layer, waiting);
    for (const callers of CALLERS) {
      const rates: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        for (const url of databases) await rowsOf(url, 'vacuum analyze');
        for (const [n, layer] of [earlier, today].entries()) rates[n]?.push(await pairs(layer, callers, seconds));
      }
      write(report, callers, median(rates[0]), median(rates[1]));
    }
  } finally {
    await earlier.end();
    await today.end();
    for (const url of databases) await rowsOf(lab.postgresUrl, `drop database ${new URL(url).pathname.slice(1)}`);
  }
}

const RESULT = { verdict: 'keep' };
const settlement = (id: string, token: string) => ({
  ...{ id, token, result: JSON.stringify(RESULT), hash: contentHash(RESULT) },
  ...{ subject: null, formVersion: null, seen: null },
});

async function layerOfToday(url: string): Promise<Layer> {
  await migrate(url);
  const db = openDb({ url, node: 'bench', max: Math.max(...CALLERS) });
  await db.run('ensure_queue', { kind: 'ticket', name: QUEUE });
  const who = { count: 1, skills: [], resume: true };
  return {
    add: (items) => addItems(db, 'ticket', items),
    claim: (person, token) =>
      db.move('claim', { kind: 'ticket', queue: QUEUE, persons: [person], tokens: [token], ...who }),
    settle: (id, token) => settleItems(db, 'ticket', [settlement(id, token)]),
    end: () => db.end(),
  };
}

/** Of that release's own folder, whose types are not today's. */
async function layerOfEdition1({ cacheDir, say }: Lab, url: string): Promise<Layer> {
  const folder = releaseOf(EDITION_1, cacheDir, say);
  const load = (file: string) => import(pathToFileURL(join(folder, 'db', file)).href);
  const [migrating, pool, items] = await Promise.all([load('migrate.ts'), load('pool.ts'), load('items.ts')]);
  await migrating.migrate(url);
  const db = pool.openDb({ url, node: 'bench', max: Math.max(...CALLERS) });
  await db.run('ensure_queue', ['ticket', QUEUE]);
  return {
    add: (all) => items.addItems(db, 'ticket', all),
    claim: (person, token) => db.run('claim', ['ticket', QUEUE, [person], [token], 1, [], true]),
    settle: (id, token) => items.settleItems(db, 'ticket', [settlement(id, token)]),
    end: () => db.end(),
  };
}

async function fill(layer: Layer, n: number): Promise<void> {
  for (let from = 0; from < n; from += BATCH)
    await layer.add(Array.from({ length: BATCH }, (_, i) => newItem(`${QUEUE}-${from + i}`, QUEUE, [])));
}

async function pairs(layer: Layer, callers: number, seconds: number): Promise<number> {
  const steps = Array.from({ length: callers }, (_, n) => async () => {
    const token = newToken();
    const [ticket] = await layer.claim(`r${n}`, token);
    if (!ticket) throw new Error('nothing is left to be claimed');
    if ((await layer.settle(ticket.id, token)).length !== 1) throw new Error(`${ticket.id} was not decided`);
    return true;
  });
  return (await repeat(steps, seconds)).rate;
}

function write(report: Report, callers: number, earlier: number, today: number): void {
  const each = (rate: number) => `${short(rate)} pairs/s, ${ms((1_000 * callers) / rate)} each`;
  report.add({
    what: `claim and decide as statements, ${callers === 1 ? '1 caller' : `${callers} callers`}`,
    figure: each(today),
    rival: `0.1.0: ${each(earlier)}`,
    ratio: today / earlier,
    target: { least: 2.8 },
  });
}
