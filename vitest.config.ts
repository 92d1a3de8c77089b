import { defineConfig } from 'vitest/config';

// Each file runs in a process of its own, with a database and a Temporal namespace of its own
// (test/support/system.ts); the servers are started once (test/support/servers.ts).
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/servers.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
