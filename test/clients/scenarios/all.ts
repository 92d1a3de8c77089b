import type { TestSystem } from '../../support/system.ts';
import type { Kit } from '../kits.ts';
import { type Scenarios, type Scene, testScenarios } from '../scene.ts';
import { receiver } from './callbacks.ts';
import { calls } from './calls.ts';
import { juror } from './cases.ts';
import { examples } from './examples.ts';
import { jobs } from './jobs.ts';
import { loops } from './loops.ts';
import { auditor } from './reviews.ts';
import { streams } from './streams.ts';
import { puller } from './tasks.ts';
import { reviewer } from './tickets.ts';

/**
 * Tests each client alike, and its README's examples.
 * @param more scenarios of this client alone
 */
export const testClient = (system: TestSystem, idle: TestSystem, kit: Kit, more: Scenarios = {}): Scene =>
  testScenarios(system, idle, kit, {
    ...{
      ...loops,
      ...jobs,
      ...puller,
      ...calls,
      ...reviewer,
      ...juror,
      ...auditor,
      ...streams,
      ...receiver,
      ...examples,
    },
    ...more,
  });
