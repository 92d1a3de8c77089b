import { afterAll, expect, test, vi } from 'vitest';
import { repeat } from '../support/client.ts';
import { byNight } from '../support/nightly.ts';
import { startBoth } from './system.ts';
import { timedTrace } from './timed.ts';
import { Trace } from './trace.ts';

// a thousand commands, each sent to both when the one before has been answered
vi.setConfig({ testTimeout: 300_000 });

const TRACES = byNight(20, 6);
const COMMANDS_EACH = 1_050;
// the same on every run, so that a failure is of the change at hand; another one to look for more
const seed = Number(process.env.BEANSTALKD_SEED ?? 100);

const { both, version } = await startBoth();
process.stdout.write(`compared with ${version}; BEANSTALKD_SEED=${seed}\n`);
afterAll(() => void process.stdout.write(`${both.compared} replies of ${version} and Docket were the same\n`));

let differ = false;

/** After a difference the servers no longer hold the same, and nothing that follows means anything. */
async function alike(trace: () => Promise<void>): Promise<void> {
  expect(differ, 'an earlier trace has left the servers different').toBe(false);
  differ = true;
  await trace();
  differ = false;
}

test.each(repeat(TRACES, (n) => seed + n))('S3.8 beanstalkd and Docket answer the same: seed %i', async (of) => {
  await alike(() => new Trace(both, of).run(COMMANDS_EACH));
});

test.each([seed, seed + 1, seed + 2, seed + 3])(
  'S3.8 runs of pipelined commands are answered as one after the other: seed %i',
  async (of) => {
    await alike(() => new Trace(both, of, 0.8).run(COMMANDS_EACH));
  },
);

test.each([seed, seed + 1, seed + 2])('S3.3 S3.8 time passes the same: seed %i', async (of) => {
  await alike(() => timedTrace(both, of));
});

test(`S3.8 the comparison is of ${TRACES * COMMANDS_EACH} replies at least`, () => {
  expect(both.compared).toBeGreaterThan(TRACES * COMMANDS_EACH);
});
