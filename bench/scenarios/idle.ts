import { setTimeout as sleep } from 'node:timers/promises';
import { TASK_QUEUE } from '../../runtime/followers/publisher.ts';
import { openCallers } from '../client.ts';
import { cpuSeconds, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { seedTickets } from '../seed.ts';
import { short } from '../stats.ts';
import { until } from './steady.ts';

const POLLS = 100;
const SECONDS = 20;
/** Timers and completions of what the scenarios before have left. */
const SETTLE_MS = 30_000;
/** `TASK_QUEUE_TYPE_WORKFLOW` of Temporal's API. */
const WORKFLOW_TASKS = 1;

/** What Docket's own processes cost while nothing happens (scenario 6). */
export async function idle(lab: Lab, report: Report): Promise<void> {
  const waiting = lab.quick ? 20_000 : 100_000;
  await seedTickets(lab, 'idle', waiting, ['nobody']);
  const docket = await lab.docket();
  const callers = await openCallers(docket.url, POLLS);
  try {
    const polls = callers.map((c, n) => c.post('/v1/queues/idle/claim', { reviewer: `r${n}`, waitSeconds: 60 }));
    for (const poll of polls) poll.catch(() => {}); // cut off at the end
    await until(async () => (await backlog(lab)) === 0, 600);
    await sleep(SETTLE_MS);
    const before = [docket.api, docket.worker].map((p) => cpuSeconds(p.pid));
    await sleep(SECONDS * 1000);
    const [api = 0, worker = 0] = [docket.api, docket.worker].map(
      (p, n) => ((cpuSeconds(p.pid) - (before[n] ?? 0)) / SECONDS) * 100,
    );
    report.add({
      what: `idle, ${waiting.toLocaleString('en-US')} waiting, ${POLLS} long polls`,
      figure: `${short(api + worker)} % of one core (api ${short(api)}, worker ${short(worker)})`,
    });
  } finally {
    for (const caller of callers) caller.close();
    await docket.stop();
  }
}

/** Workflow tasks that wait for a worker: the last of what the scenarios before have told. */
async function backlog({ client }: Lab): Promise<number> {
  const { stats } = await client.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: TASK_QUEUE },
    taskQueueType: WORKFLOW_TASKS,
    reportStats: true,
  });
  return Number(stats?.approximateBacklogCount ?? 0);
}
