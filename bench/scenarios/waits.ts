import { fileURLToPath } from 'node:url';
import { need, openCallers } from '../client.ts';
import { drained, type Lab } from '../lab.ts';
import type { Report } from '../report.ts';
import { figureOf, quantile } from '../stats.ts';
import { until } from './steady.ts';

const QUEUE = 'asked';

/** From a decision to the caller’s workflow that waits for it, beside a signal sent to a bare one (scenario 26). */
export async function waits(lab: Lab, report: Report): Promise<void> {
  const [rounds, others] = lab.quick ? [20, 20] : [300, 1_000];
  const docket = await lab.docket({ DOCKET_NEXUS_QUEUES: '*' });
  const bare = await lab.child(fileURLToPath(new URL('../bare/worker.mjs', import.meta.url)), []);
  const [caller] = await openCallers(docket.url, 1);
  if (!caller) throw new Error('no caller');
  const { workflow } = lab.client;
  const ask = (queue: string, id: string) =>
    workflow.start('asking', { workflowId: `asking/${id}`, taskQueue: 'bare', args: [{ queue, id, body: 1 }] });
  const waiting = async () => (await lab.sql('select from wait where wake_at is null')).length;
  const resumed = async (handle: { result(): Promise<unknown> }, wake: () => Promise<unknown>) => {
    const began = performance.now();
    await wake();
    await handle.result();
    return performance.now() - began;
  };
  const ours: number[] = [];
  const theirs: number[] = [];
  try {
    for (let n = 0; n < others; n++) await ask('others', `other-${n}`);
    await until(async () => (await waiting()) === others);
    await drained(lab);
    for (let n = -5; n < rounds; n++) {
      const asking = await ask(QUEUE, `asked-${n}`);
      await until(async () => (await waiting()) === others + 1);
      const { tickets } = need(
        await caller.post(`/v1/queues/${QUEUE}/claim`, { reviewer: 'ann', waitSeconds: 5 }),
        200,
      );
      const { id, lease } = tickets[0];
      await drained(lab);
      const decide = async () =>
        need(await caller.post(`/v1/tickets/${id}/decide`, { token: lease.token, decision: 1 }), 200);
      const mine = await resumed(asking, decide);
      const floor = await workflow.start('bare', { workflowId: `bare/wait/${n}`, taskQueue: 'bare', args: [1] });
      await drained(lab);
      const other = await resumed(floor, () => floor.signal('next'));
      // the first ones warm up
      if (n < 0) continue;
      ours.push(mine);
      theirs.push(other);
    }
  } finally {
    caller.close();
    await Promise.all([docket.stop(), bare.stop()]);
  }
  report.add({
    what: `decision → caller resumed, ${others.toLocaleString('en-US')} others wait`,
    figure: figureOf(ours),
    rival: `signal → bare workflow resumed: ${figureOf(theirs)}`,
    ratio: quantile(ours, 0.99) / quantile(theirs, 0.99),
    measured: { value: quantile(ours, 0.99), unit: 'ms p99' },
    target: { most: 1_000 },
  });
}
