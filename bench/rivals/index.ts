import type { Lab } from '../lab.ts';
import { openBeanstalkd } from './beanstalkd.ts';
import { openBullMq } from './bullmq.ts';
import { openGraphile } from './graphile.ts';
import { openPgBoss } from './pgboss.ts';
import type { Queues } from './rival.ts';

const rivals = {
  pgBoss: openPgBoss,
  graphile: openGraphile,
  bullMqAlways: (lab: Lab) => openBullMq(lab, 'always'),
  bullMqEverySecond: (lab: Lab) => openBullMq(lab, 'everysec'),
  beanstalkdFsync: (lab: Lab) => openBeanstalkd(lab, true),
  beanstalkd: (lab: Lab) => openBeanstalkd(lab, false),
} satisfies Record<string, (lab: Lab) => Promise<Queues>>;

export type RivalName = keyof typeof rivals;
export const ALL_RIVALS = Object.keys(rivals) as RivalName[];

/** Lets `run` have these rivals, and ends those that were started, whatever becomes of it. */
export async function withRivals(
  lab: Lab,
  names: RivalName[],
  run: (opened: Queues[]) => Promise<void>,
): Promise<void> {
  const opened: Queues[] = [];
  try {
    for (const name of names) opened.push(await rivals[name](lab));
    await run(opened);
  } finally {
    for (const rival of opened) await rival.stop();
  }
}
