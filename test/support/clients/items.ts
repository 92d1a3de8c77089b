import type { TestSystem } from '../system.ts';
import { testAuditor } from './auditing.ts';
import { testExamples } from './examples.ts';
import { testJuror } from './judging.ts';
import type { Kit } from './kits.ts';
import { testReceiver } from './receiving.ts';
import { testReviewer } from './reviewing.ts';
import { testFeed, testStreams } from './streaming.ts';
import { testTicketCalls } from './ticket-calling.ts';

/**
 * What each client has to do with tickets, cases, reviews, streams and callbacks, and its README's examples.
 * @param idle a system without a worker, for what is added by the thousand and never worked on
 */
export function testItems(system: TestSystem, idle: TestSystem, kit: Kit): void {
  testTicketCalls(idle, kit);
  testReviewer(system, kit);
  testJuror(system, kit);
  testAuditor(system, kit);
  testStreams(system, kit);
  testFeed(idle, kit);
  testReceiver(system, kit);
  testExamples(system, kit);
}
