import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Compare times, or take both cores: they have the machine to themselves. */
const ALONE = ['test/pace/**/*.test.ts', 'test/storm/storm.test.ts'];

/** Takes minutes and mostly waits: begun last, it would have the machine to itself. */
const LONGEST = '/test/api/openapi.test.ts';

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification) => Number(moduleId.endsWith(LONGEST));
    return (await super.sort(files)).toSorted((a, b) => isLongest(b) - isLongest(a));
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
    sequence: { sequencer: LongestFirst },
    projects: [
      // three on two cores: most tests wait for timers, leases and fuzzers
      { test: { ...each, name: 'all', include: ['test/**/*.test.ts'], exclude: ALONE, maxWorkers: 3 } },
      // after all others, one file at a time
      { test: { ...each, name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
