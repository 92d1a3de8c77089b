import { condition, defineSignal, setHandler } from '@temporalio/workflow';

const next = defineSignal('next');

/** The least that a workflow with two signals can do. */
export async function bare(): Promise<void> {
  let heard = 0;
  setHandler(next, () => {
    heard++;
  });
  await condition(() => heard >= 2);
}
