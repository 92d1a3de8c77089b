import type { TestSystem } from '../../support/system.ts';
import type { Kit } from '../kits.ts';
import { testReceiver } from './callbacks.ts';
import { testCaseCalls, testTicketCalls } from './calls.ts';
import { testJuror } from './cases.ts';
import { testExamples } from './examples.ts';
import { testJobs } from './jobs.ts';
import { testAuditor } from './reviews.ts';
import { testFeed, testStreams } from './streams.ts';
import { testPuller } from './tasks.ts';
import { testReviewer } from './tickets.ts';

/**
 * What each client does, whatever its language, and its README's examples.
 * @param idle a system without a worker, for what is added by the thousand and never worked on
 */
export function testClient(system: TestSystem, idle: TestSystem, kit: Kit): void {
  testJobs(system, kit);
  testPuller(system, kit);
  testTicketCalls(idle, kit);
  testCaseCalls(system, kit);
  testReviewer(system, kit);
  testJuror(system, kit);
  testAuditor(system, kit);
  testStreams(system, kit);
  testFeed(idle, kit);
  testReceiver(system, kit);
  testExamples(system, kit);
}
