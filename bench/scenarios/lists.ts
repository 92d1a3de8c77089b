import { setTimeout as sleep } from 'node:timers/promises';
import { need, openCallers } from '../client.ts';
import { type Lab, withoutWorkflows } from '../lab.ts';
import type { Report } from '../report.ts';
import { seedTickets } from '../seed.ts';
import { ms, quantile } from '../stats.ts';

const QUEUE = 'lists';
const BATCH = 20_000;
const MOST_MS = 300;
const LATER = '2099-01-01T00:00:00Z';
/** Four of five are decided, by 50 people; a tenth by a model, one of a thousand was overturned. */
const DECIDE = `update item i
   set state = 'settled', result = json_build_object('verdict', case when t.n % 3 = 0 then 'remove' else 'keep' end),
       automation = case when t.n % 10 = 1 then 'full' else 'none' end,
       look = case when t.n % 1000 = 2 then '{"standing": {"decision": {"verdict": "keep"}}}'::jsonb end,
       category = 'c-' || t.n % 20, subject = 's-' || t.n % 1000,
       event_seq = i.event_seq + 1, last_event = 'decided', last_actor = 'r' || t.n % 50, last_data = '{}'
  from (select id, n from item cross join lateral (select split_part(id, '-', 2)::int as n) s
         where kind = 'ticket' and queue = '${QUEUE}' and state = 'ready' and n % 5 > 0
           and n >= $1 and n < $1 + ${BATCH}) t
 where i.kind = 'ticket' and i.id = t.id`;

/** By what a list is filtered: what many tickets have, few, and none, for which a page goes through most. */
const FILTERS = [
  '',
  'state=decided',
  'state=waiting',
  'reviewer=r7',
  'decidedBy=r7',
  'decidedBy=r7&verdict=remove',
  'verdict=remove',
  'verdict=escalate',
  `decidedAfter=${LATER}`,
  'automation=full',
  'automation=partial',
  'overturned=true',
  'category=c-3',
  'category=none',
  'subject=s-7',
  'order=oldest',
  'verdict=escalate&order=oldest',
  'text=comment',
  'text=nowhere',
];

/** Lists of a million tickets as the console asks for them, by each filter (scenario 25). */
export async function lists(lab: Lab, report: Report): Promise<void> {
  const [tickets, rounds] = lab.quick ? [60_000, 5] : [1_000_000, 100];
  await seedTickets(lab, QUEUE, tickets);
  await withoutWorkflows(lab, async () => {
    for (let from = 0; from < tickets; from += BATCH) await lab.sql(DECIDE, [from]);
  });
  await lab.sql('vacuum analyze item');
  const docket = await lab.docket({ DOCKET_FULL_TEXT: 'on' });
  const [caller] = await openCallers(docket.url, 1);
  try {
    while ((await lab.sql('select from full_text where ready')).length === 0) await sleep(100);
    await lab.sql('vacuum analyze ticket_text');
    for (const filter of FILTERS) {
      const took: number[] = [];
      for (let n = 0; n < rounds; n++) {
        const start = performance.now();
        need((await caller?.get(`/v1/tickets?queue=${QUEUE}&limit=50&${filter}`)) ?? { status: 0, body: null }, 200);
        took.push(performance.now() - start);
      }
      const p95 = quantile(took, 0.95);
      report.add({
        what: filter === '' ? 'no filter' : filter,
        figure: `p50 ${ms(quantile(took, 0.5))}, p95 ${ms(p95)}`,
        measured: { value: p95, unit: 'ms p95' },
        target: { most: MOST_MS },
      });
    }
  } finally {
    caller?.close();
    await docket.stop();
  }
}
