import { expect, test } from 'vitest';
import { claimOne, eventually, numbered, repeat } from '../support/client.ts';
import { linesOf, metric } from '../support/metrics.ts';
import { startTestSystem } from '../support/system.ts';
import { add } from '../support/tickets.ts';

const { api, sql, running } = await startTestSystem({}, { role: 'api' });
const { db } = running.runtime;
/** With what maintenance does every five seconds, and once a minute. */
async function scrape() {
  await db.run('compact_tally');
  await db.lists.run('sample_queues', { limit: 2_000 });
  return linesOf((await api.get('/metrics')).body as string);
}

test('S0.3 whatever the number of queues, a thousand have a line of their own', async () => {
  const work = numbered(1_010, 'queue-')[Symbol.iterator]();
  const claimAll = async () => {
    for (const queue of work) {
      await add(api, queue);
      await claimOne(api, queue, 'ann');
    }
  };
  await Promise.all(repeat(16, claimAll));
  const others = { kind: 'ticket', queue: '(others)' };
  await eventually(async () => metric(await scrape(), 'docket_added_total', others) === 10);
  // the counts of others are those of the newest samples
  await sql(`update sample_state set sampled_at = '-infinity'`);
  await eventually(async () => metric(await scrape(), 'docket_items', { ...others, state: 'held' }) === 10);
  const lines = await scrape();
  const named = (name: string) => lines.filter((line) => line.name === name && line.labels.queue !== '(others)').length;
  expect(named('docket_handed_out_total')).toBe(1_000);
  expect(metric(lines, 'docket_handed_out_total', others)).toBe(10);
  expect(named('docket_hand_over_seconds_count')).toBe(200);
  expect(metric(lines, 'docket_hand_over_seconds_count', others)).toBe(810);
  expect(named('docket_added_total')).toBe(1_000);
  expect(named('docket_oldest_ready_seconds')).toBe(1_000);
  const total = lines.filter(({ name }) => name === 'docket_added_total').reduce((sum, { value }) => sum + value, 0);
  expect(total).toBe(1_010);
}, 180_000);
