import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fault, planOf, shrink, withUpdate } from './plan.ts';
import { addToTable, rowOf } from './report.ts';
import { foundIn, journalPath, type StormResult, storm } from './storm.ts';

const USAGE = `npm run storm -- [--seed N] [--minutes M] [--storms K] [--faults PER_SECOND] [--from REF] [--production] [--replay FILE] [--shrink] [--write]

Runs Docket's programs on real servers under seeded faults, then checks that nothing was lost, doubled or out of order.
  --seed N        the first seed (default: 1)
  --minutes M     how long each storm lasts (default: 1)
  --storms K      how many seeds, one after the other (default: 1)
  --faults F      faults that begin in a second, on average (default: 1)
  --from REF      the programs are of this commit or tag, and are updated to what is here in the middle
  --production    Temporal's server on PostgreSQL, built with Go the first time, instead of its development server
  --replay FILE   the faults of a report of a failed storm instead of the seed's own
  --shrink        after a failure, finds as few of its faults as possible that still fail
  --write         adds a row for each storm to docs/storm.md
Journals and reports of failures are in .storm/.`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '1' },
    storms: { type: 'string', default: '1' },
    faults: { type: 'string', default: '1' },
    from: { type: 'string' },
    production: { type: 'boolean', default: false },
    replay: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const DIR = '.storm';
const MOST_SHOWN = 20;
const say = (line: string) => console.log(line);

if (values.help) say(USAGE);
else await main();
// a connection that was reset while it was being shut down keeps Node.js from ending by itself, at full speed
process.exit();

async function main(): Promise<void> {
  mkdirSync(DIR, { recursive: true });
  const [first, minutes] = [Number(values.seed), Number(values.minutes)];
  for (let seed = first; seed < first + Number(values.storms); seed++) {
    const plan = planFor(seed, minutes);
    const result = await run(seed, minutes, plan);
    if (foundIn(result).length > 0) await failed(seed, minutes, plan, result);
    if (values.write)
      addToTable(
        rowOf(result, { commit: commit(), from: values.from, temporal: values.production ? 'server' : 'development' }),
      );
  }
}

function planFor(seed: number, minutes: number): Fault[] {
  if (values.replay) return JSON.parse(readFileSync(values.replay, 'utf8')).plan;
  const plan = planOf(seed, minutes, Number(values.faults));
  return values.from === undefined ? plan : withUpdate(plan, minutes);
}

async function run(seed: number, minutes: number, plan: Fault[]): Promise<StormResult> {
  const { from, production } = values;
  const result = await storm({ seed, minutes, plan, from, production, journal: journalPath(DIR, seed), say });
  const { ok, refused, unknown } = result.calls;
  say(`calls: ${ok} ok, ${refused} refused, ${unknown} unknown; drained in ${result.drainSeconds.toFixed(1)} s`);
  say(
    `faults: ${Object.entries(result.faults)
      .map(([name, n]) => `${name} ${n}`)
      .join(', ')}`,
  );
  for (const [name, n] of Object.entries(result.seen)) say(`  ${name}: ${[n].flat().join(' / ')}`);
  for (const [name, { of, found }] of Object.entries(result.verdicts)) {
    say(`${found.length === 0 ? 'ok   ' : 'FOUND'} ${name}: ${found.length} of ${of}`);
    for (const line of found.slice(0, MOST_SHOWN)) say(`        ${line}`);
  }
  return result;
}

async function failed(seed: number, minutes: number, plan: Fault[], result: StormResult): Promise<void> {
  process.exitCode = 1;
  const fails = async (some: Fault[]) => foundIn(await run(seed, minutes, some)).length > 0;
  const least = values.shrink ? await shrink(plan, fails) : plan;
  const file = join(DIR, `failed-${seed}.json`);
  writeFileSync(file, JSON.stringify({ ...result, plan: least }, null, 2));
  say(`report: ${file}; again with: npm run storm -- --seed ${seed} --minutes ${minutes} --replay ${file}`);
}

/** The commit, marked where files differ from it. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '-uno') ? '+' : '');
}
