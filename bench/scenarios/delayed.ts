import { setTimeout as sleep } from 'node:timers/promises';
import { need, openCallers } from '../client.ts';
import { drained, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { BODY } from '../seed.ts';
import { ms, short } from '../stats.ts';
import { until } from './steady.ts';

const BATCH = 500;

/** Many delayed tickets that fall due within one second (scenario 5), each with a workflow of its own. */
export async function delayed(lab: Lab, report: Report): Promise<void> {
  const [tickets, startsPerSecond] = lab.quick ? [2_000, 40] : [10_000, 60];
  const docket = await lab.docket();
  try {
    const [caller] = await openCallers(docket.url, 1);
    if (!caller) throw new Error('no caller');
    // long enough before, so that all workflows have been started
    const aheadSeconds = 20 + tickets / startsPerSecond;
    const [clock] = await lab.sql<{ now: Date }>('select clock_timestamp() as now');
    const createdAt = clock?.now.toISOString();
    for (let from = 0; from < tickets; from += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, n) => {
        const delaySeconds = aheadSeconds + (from + n) / tickets;
        return { id: `delayed-${from + n}`, body: BODY, createdAt, delaySeconds };
      });
      need(await caller.post('/v1/queues/delayed/tickets/batch', { tickets: batch }), 200);
    }
    caller.close();
    const delayKnown = await drained(lab);
    const early = await available(lab);
    await sleep(aheadSeconds * 1000 - (Date.now() - Date.parse(createdAt ?? '')));
    await until(async () => (await available(lab)) === tickets);
    const [late] = await lab.sql<Record<'p50' | 'p99' | 'max' | 'min', number>>(
      `select percentile_cont(0.5) within group (order by late) as p50, percentile_cont(0.99) within group (order by late) as p99,
              max(late) as max, min(late) as min
         from (select extract(epoch from e.at - i.available_at)::double precision * 1000 as late
                 from event e join item i on i.kind = e.kind and i.id = e.item_id
                where e.type = 'available' and i.queue = 'delayed') s`,
    );
    if (!late || late.min < 0) throw new Error(`a ticket was handed out early: ${late?.min} ms`);
    const endKnown = await drained(lab);
    report.add({
      what: `${tickets.toLocaleString('en-US')} tickets due in one second`,
      figure: `late by p50 ${ms(late.p50)}, p99 ${ms(late.p99)}, at most ${ms(late.max)}; none early`,
    });
    report.add({
      what: 'their workflows',
      figure: `${early > 0 ? `${early} were due before all were started; ` : ''}all received the delay ${short(delayKnown)} s after the last was added, of its end ${short(endKnown)} s after it`,
    });
  } finally {
    await docket.stop();
  }
}

async function available(lab: Lab): Promise<number> {
  const [row] = await lab.sql<{ n: number }>(
    "select count(*)::integer as n from item where kind = 'ticket' and queue = 'delayed' and state = 'ready'",
  );
  return row?.n ?? 0;
}
