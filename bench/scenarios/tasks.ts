import { forgetUnpublished, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { emptyPulls } from '../tasks/empty.ts';
import { plan } from '../tasks/plan.ts';
import { populate, settleIn } from '../tasks/population.ts';
import { pulls } from '../tasks/pulls.ts';
import { rotations } from '../tasks/rotations.ts';
import { waiting } from '../tasks/waiting.ts';

/** Clients that pull: in a hurry, in vain and waiting, and what comes round by itself (scenario 13). */
export async function tasks(lab: Lab, report: Report): Promise<void> {
  const population = populate(lab.quick ? 250 : 5_000);
  await settleIn(lab, population);
  await plan(lab, report, population);
  await pulls(lab, report, population);
  for (const part of [emptyPulls, waiting]) {
    const docket = await lab.docket();
    try {
      await part(lab, report, docket, population);
    } finally {
      await docket.stop();
      await forgetUnpublished(lab);
    }
  }
  await rotations(lab, report, population);
}
