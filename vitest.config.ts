import { defineConfig } from 'vitest/config';

// Each file runs in a process of its own, with a database and a Temporal namespace of its own
// (test/support/system.ts); the servers are started once (test/support/servers.ts).
// What compares times has the machine to itself: test/pace runs after all others, one file at a time.
export default defineConfig({
  test: {
    globalSetup: ['test/support/servers.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: { name: 'all', include: ['test/**/*.test.ts'], exclude: ['test/pace/**'], maxWorkers: 2 },
      },
      {
        extends: true,
        test: { name: 'pace', include: ['test/pace/**/*.test.ts'], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
