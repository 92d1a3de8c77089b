import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { script } from '../scripts/usage.ts';
import { forgetUnpublished, openLab } from './lab.ts';
import { Report } from './report.ts';
import { scenarios } from './scenarios/index.ts';

const parts = Object.keys(scenarios);
const bench = script(
  'npm run bench --',
  `Compiles Docket, then measures it and what it is compared with on servers of its own. All
parts together take hours. What was measured at full size is put into bench/RESULTS.md.`,
)
  .option('--only <parts>', `some parts, by commas: ${parts.join(', ')}`)
  .option('--quick', 'small sizes, to see that it works', false)
  .addHelpText(
    'after',
    `
Environment:
  BENCH_OUT     file for the results (default: bench/RESULTS.md, none with --quick)
  BENCH_PG      settings of PostgreSQL, as JSON
  BENCH_NODE    options of Node.js for Docket's processes
  DOCKET_CACHE  folder for the temporal program and bundles
  TEMPORAL_CLI  path of the temporal program

Examples:
  # two parts, at small sizes
  npm run bench -- --only claims,tasks --quick`,
  );
const { only, quick } = bench.parse().opts<{ only?: string; quick: boolean }>();
const wanted = only?.split(',');
const unknown = wanted?.find((name) => !parts.includes(name));
if (unknown !== undefined) bench.error(`error: --only: there is no part ${unknown}; it takes ${parts.join(', ')}`);
const chosen = Object.entries(scenarios).filter(([name]) => !wanted || wanted.includes(name));

execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.mjs', import.meta.url))], { stdio: 'inherit' });
const say = (line: string) => console.log(line);
const lab = await openLab(quick, say);
const report = new Report(say);
// a quick run is for looking, not for the record
const record = quick ? undefined : fileURLToPath(new URL('RESULTS.md', import.meta.url));
const out = process.env.BENCH_OUT || record;
try {
  for (const [, { title, note, run }] of chosen) {
    await forgetUnpublished(lab);
    report.part(title, note);
    await run(lab, report);
    // after each: what has been measured for an hour outlives a scenario that fails
    if (out) await report.write(lab, out);
  }
} finally {
  await lab.stop();
}
