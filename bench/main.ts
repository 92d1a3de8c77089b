import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openLab } from './lab.ts';
import { Report } from './report.ts';
import { scenarios } from './scenarios/index.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } } });
const chosen = Object.entries(scenarios).filter(([name]) => !values.only || values.only.split(',').includes(name));
if (chosen.length === 0) {
  console.error(`--only takes ${Object.keys(scenarios).join(', ')}`);
  process.exit(2);
}
const say = (line: string) => console.log(line);
const lab = await openLab(values.quick, say);
const report = new Report(say);
const all = chosen.length === Object.keys(scenarios).length;
const out = process.env.BENCH_OUT || (all ? fileURLToPath(new URL('RESULTS.md', import.meta.url)) : undefined);
try {
  for (const [, { title, note, run }] of chosen) {
    report.part(title, note);
    await run(lab, report);
    // after each: what has been measured for an hour outlives a scenario that fails
    if (out) await report.write(lab, out);
  }
} finally {
  await lab.stop();
}
