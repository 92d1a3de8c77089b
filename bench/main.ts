import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Lab, openLab } from './lab.ts';
import { Report } from './report.ts';
import { claims } from './scenarios/claims.ts';
import { delayed } from './scenarios/delayed.ts';
import { depth } from './scenarios/depth.ts';
import { idle } from './scenarios/idle.ts';
import { steady } from './scenarios/steady.ts';
import { workflows } from './scenarios/workflows.ts';

interface Scenario {
  title: string;
  /** What the figures mean, for RESULTS.md. */
  note: string;
  run(lab: Lab, report: Report): Promise<void>;
}

const scenarios: Record<string, Scenario> = {
  claims: {
    title: '1 · Claim → decide over HTTP',
    note:
      'One API process and one worker, Temporal beside them, every hand-out and decision told to a workflow; pg-boss runs as a library in ' +
      'the process of the load, without HTTP, events or workflows. Each pg-boss fetch sorts all that is queued, so two ' +
      'comparisons stand here with the same target: as many waiting on both sides, and pg-boss at its best, with short queues one after the ' +
      'other. The second is the harder one: there a pair costs pg-boss two short statements, and Docket two HTTP calls and two statements with an ' +
      'event, an outbox and a lease row each, while Temporal and the worker use the same cores.',
    run: claims,
  },
  depth: {
    title: '2 · Claims where many wait',
    note: 'The same 8 callers ask both queues in turn; each takes a ticket, decides it and adds one.',
    run: depth,
  },
  workflows: {
    title: '3 · Whole lives with their workflows',
    note:
      'Three waves: add, claim, decide; each begins when all workflows have been told of the one before. The bare workflow gets a start and ' +
      'two signals, 16 in flight, on the same server with a worker of the same settings. It reads no row, writes none and has no timer; a ticket’s ' +
      'life has the three calls besides, reads its row once in a local activity and starts and cancels the timer of its lease.',
    run: workflows,
  },
  steady: {
    title: '4 · A steady day',
    note: 'Each ticket waits a second and is held a second. Limits on the relay are the defaults.',
    run: steady,
  },
  delayed: {
    title: '5 · Ten thousand due in one second',
    note: 'Lateness is the time of the `available` event less `availableAt`, both by the database’s clock. Each ticket has its workflow.',
    run: delayed,
  },
  idle: {
    title: '6 · Nothing to do',
    note: 'The tickets ask for a skill that nobody has. CPU of Docket’s two processes over 20 s.',
    run: idle,
  },
};

const { values } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } } });
const chosen = Object.entries(scenarios).filter(([name]) => !values.only || values.only.split(',').includes(name));
if (chosen.length === 0) {
  console.error(`--only takes ${Object.keys(scenarios).join(', ')}`);
  process.exit(2);
}
const say = (line: string) => console.log(line);
const lab = await openLab(values.quick, say);
const report = new Report(say);
try {
  for (const [, { title, note, run }] of chosen) {
    report.part(title, note);
    await run(lab, report);
  }
  const all = chosen.length === Object.keys(scenarios).length;
  if (all || process.env.BENCH_OUT)
    await report.write(lab, process.env.BENCH_OUT || fileURLToPath(new URL('RESULTS.md', import.meta.url)));
} finally {
  await lab.stop();
}
