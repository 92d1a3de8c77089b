import { condition, defineSignal, proxySinks, setHandler } from '@temporalio/workflow';
import type { BareSinks } from './worker.ts';

const next = defineSignal('next');
const { bench } = proxySinks<BareSinks>();

/** The least that a workflow with two signals can do. */
export async function bare(): Promise<void> {
  let heard = 0;
  setHandler(next, () => {
    heard++;
    bench.ran();
  });
  bench.ran();
  await condition(() => heard >= 2);
}
