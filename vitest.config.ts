import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Compare times, or take both cores: they have the machine to themselves. */
const ALONE = ['test/pace/**/*.test.ts', 'test/storm/storm.test.ts'];

/** Need what a process has only once: the SDK's runtime with its metrics, or modules in place of others. */
const OWN_PROCESS = ['test/metrics/**/*.test.ts', 'test/deliveries/private-hosts.test.ts'];

/** Take two minutes and more: begun last, they would have the machine to themselves. */
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

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const n = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return n < 0 ? LONGEST.length : n;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

// Each file has a database and a Temporal namespace of its own (test/support/system.ts).
const each = {
  pool: 'forks' as const,
  setupFiles: ['test/support/each-file.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  teardownTimeout: 30_000,
  // machines that are shared stall for seconds; what fails twice is no accident
  retry: process.env.CI ? 1 : 0,
};

// three on two cores: most tests wait for timers, leases and processes
const maxWorkers = 3;

export default defineConfig({
  test: {
    // once, for all projects: they don't extend this one
    globalSetup: ['test/support/servers.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // modules are loaded once for many files: to load them for each took a seventh of the whole run
        test: {
          ...each,
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, ...OWN_PROCESS],
          isolate: false,
          maxWorkers,
        },
      },
      { test: { ...each, name: 'own process', include: OWN_PROCESS, maxWorkers } },
      // after all others, one file at a time
      { test: { ...each, name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
