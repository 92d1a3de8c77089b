import { assignment } from '../cases/assignment.ts';
import { day } from '../cases/day.ts';
import { rush } from '../cases/rush.ts';
import { veterans } from '../cases/veterans.ts';
import { votes } from '../cases/votes.ts';
import { drained, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';

/** A day takes a minute or less, so the limit on signals while callers are busy has to go as fast. */
const DAYS_LIMITS = { publishBusyPerSecond: 500 };

/** Courts: a rush, a batch to assign, votes, claims of old hands, and a day (scenario 12). */
export async function cases(lab: Lab, report: Report): Promise<void> {
  for (const [part, limits] of [
    [rush, {}],
    [assignment, {}],
    [votes, {}],
    [veterans, {}],
    [day, DAYS_LIMITS],
  ] as const) {
    const docket = await lab.docket({}, limits);
    try {
      await part(lab, report, docket.url);
      await drained(lab);
    } finally {
      await docket.stop();
    }
  }
}
