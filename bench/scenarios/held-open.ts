import pg from 'pg';
import { openDocket } from '../docket.ts';
import { drained, type Lab } from '../lab.ts';
import { warmUp } from '../measure.ts';
import type { Report } from '../report.ts';
import { withRivals } from '../rivals/index.ts';
import type { Queues } from '../rivals/rival.ts';
import { ms, quantile, short } from '../stats.ts';
import { offered, PER_SECOND } from './end-to-end.ts';

const WARM_SECONDS = 5;

interface Ageing {
  first: number;
  last: number;
}

/**
 * Jobs at a steady rate while another transaction of the same database stays open, as a report or a backup does: no row
 * that died since can be removed meanwhile (scenario 15).
 */
export async function heldOpen(lab: Lab, report: Report): Promise<void> {
  const [seconds, part] = lab.quick ? [40, 10] : [300, 60];
  const docket = await openDocket(lab);
  let ours: Ageing;
  try {
    await warmUp(docket.http, WARM_SECONDS);
    await drained(lab);
    ours = await besideOpen(docket.http, seconds, part);
  } finally {
    await docket.stop();
  }
  const what = `add → received at ${PER_SECOND}/s, p99 of the last ${part} s of ${seconds} beside an open transaction`;
  const grown = ({ first, last }: Ageing) => `${ms(last)} (${short(last / first)}× the first ${part} s)`;
  report.add({
    ...{ what, figure: grown(ours), target: { most: 2 } },
    measured: { value: ours.last / ours.first, unit: '× the first' },
  });
  await withRivals(lab, ['pgBoss', 'graphile'], async (rivals) => {
    for (const rival of rivals) {
      const theirs = await besideOpen(rival, seconds, part);
      const ratio = ours.last / theirs.last;
      report.add({ what, figure: grown(ours), rival: `${rival.name}: ${grown(theirs)}`, ratio, target: { most: 1 } });
    }
  });
}

async function besideOpen(queues: Queues, seconds: number, part: number): Promise<Ageing> {
  const open = new pg.Client({ connectionString: queues.databaseUrl });
  await open.connect();
  try {
    await open.query('begin isolation level repeatable read');
    await open.query('select count(*) from pg_class');
    const took = await offered(queues, seconds);
    const jobs = part * PER_SECOND;
    return { first: quantile(took.slice(0, jobs), 0.99), last: quantile(took.slice(-jobs), 0.99) };
  } finally {
    await open.end();
  }
}
