import type { TestSystem } from '../system.ts';
import { testAuditor } from './auditing.ts';
import { testExamples } from './examples.ts';
import { testJuror } from './judging.ts';
import type { Kit } from './kits.ts';
import { testReceiver } from './receiving.ts';
import { testReviewer } from './reviewing.ts';
import { testStreams } from './streaming.ts';

/** What each client has to do with tickets, cases, reviews, streams and callbacks, and its README's examples. */
export function testItems(system: TestSystem, kit: Kit): void {
  testReviewer(system, kit);
  testJuror(system, kit);
  testAuditor(system, kit);
  testStreams(system, kit);
  testReceiver(system, kit);
  testExamples(system, kit);
}
