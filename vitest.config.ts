import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Compare times, or take both cores: they have the machine to themselves. */
const ALONE = ['test/pace/**/*.test.ts', 'test/storm/storm.test.ts'];

/** Take two minutes and more: side by side they would hold each other up, and begun last they would have the machine to themselves. */
const LONGEST = [
  'clients/php-items',
  'clients/python-items',
  'clients/typescript-items',
  'deliveries/silent-receivers',
  'docs/blocks',
  'replay/replay',
  'faults/drain',
  'faults/npm-start',
  'cli/servers',
  'beanstalkd/differential',
  'reviews/faults',
  'api/openapi',
];

const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));

/** So many others are begun between two that take long; there are ten times as many. */
const BETWEEN = 10;

class LongOnesSpread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const long = sorted.filter(isLong);
    const others = sorted.filter((file) => !isLong(file));
    const spread = others.flatMap((file, n) => (n % BETWEEN === 0 ? [...long.splice(0, 1), file] : [file]));
    return [...spread, ...long];
  }
}

// Each file runs in a process of its own, with a database and a Temporal namespace of its own (test/support/system.ts).
const each = {
  pool: 'forks',
  testTimeout: 60_000,
  hookTimeout: 120_000,
  teardownTimeout: 30_000,
  // machines that are shared stall for seconds; what fails twice is no accident
  retry: process.env.CI ? 1 : 0,
} as const;

export default defineConfig({
  test: {
    // once, for both projects: they don't extend this one
    globalSetup: ['test/support/servers.ts'],
    sequence: { sequencer: LongOnesSpread },
    projects: [
      // three on two cores: most tests wait for timers, leases and processes
      { test: { ...each, name: 'all', include: ['test/**/*.test.ts'], exclude: ALONE, maxWorkers: 3 } },
      // after all others, one file at a time
      { test: { ...each, name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
