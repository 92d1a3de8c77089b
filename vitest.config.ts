import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Need programs besides Node.js, or have servers and processes fail. */
const FULL = [
  'test/{clients,docs,examples,faults,generators,moves,replay,scaling,upgrade}/**/*.test.ts',
  'test/web/!(builders|charts|desk-units|serving).test.ts',
  'test/beanstalkd/{clients,differential,fuzz}.test.ts',
  'test/architecture/{kubernetes,systemd}.test.ts',
  ...[
    'api/openapi',
    'cases/agreement',
    'cli/servers',
    'doctor/repairs',
    'doors/callers',
    'feed/export',
    'feed/export-kafka',
    'feed/export-mysql',
    'followers/shards',
    'jobs/instances',
    'mcp/conformance',
    'mcp/killed',
    'metrics/alerts',
    'outbox/faults',
    'outbox/guide',
    'outbox/killed',
    'retention/killed',
  ].map((name) => `test/${name}.test.ts`),
  'test/{reviews,tasks}/faults.test.ts',
  'test/feed/followers.test.ts',
];

/** Compare times, or take both cores: they have the machine to themselves. */
const ALONE = ['test/{pace/**/*,deliveries/silent-receivers,storm/storm}.test.ts'];

/** Short files that take minutes. Vitest begins the shortest last, and the whole run would wait for these. */
const LONG = [
  ...['api/openapi', 'clients/(php|python|typescript)', 'docs/blocks', 'followers/shards', 'generators/generators'],
  ...['faults/(failing-activity|nexus|npm-start|worker-lost)', 'replay/replay', 'reviews/faults'],
];
const isLong = new RegExp(`test/(${LONG.join('|')})\\.test\\.ts$`);

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rest = await super.sort(files);
    return rest.toSorted((a, b) => Number(isLong.test(b.moduleId)) - Number(isLong.test(a.moduleId)));
  }
}

const each: TestProjectInlineConfiguration['test'] = {
  pool: 'forks',
  // a process takes one file after another, so that it loads Docket once
  isolate: false,
  setupFiles: ['test/support/setup.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  test: {
    teardownTimeout: 30_000,
    sequence: { sequencer: LongFirst },
    // once, for all projects: they don't extend this one
    globalSetup: ['test/support/servers.ts'],
    projects: [
      // more than there are cores: most tests wait for timers, leases and processes
      { test: { ...each, name: 'quick', include: ['test/**/*.test.ts'], exclude: [...FULL, ...ALONE], maxWorkers: 4 } },
      {
        // browsers and compilers beside each other: any one of them may have to wait for a core
        test: {
          ...each,
          name: 'full',
          include: FULL,
          maxWorkers: 4,
          testTimeout: 180_000,
          sequence: { groupOrder: 1 },
        },
      },
      // after all others, one file at a time
      { test: { ...each, name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
