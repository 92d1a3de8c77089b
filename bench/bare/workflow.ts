import { condition, createNexusServiceClient, defineSignal, proxySinks, setHandler } from '@temporalio/workflow';
import { operation, service } from 'nexus-rpc';
import type { BareSinks } from './worker.ts';

const next = defineSignal('next');
const { bench } = proxySinks<BareSinks>();
const Docket = service('docket', { ticket: operation<object, object>() });

/** The least that a workflow with signals can do: two as a ticket has, or the one that a caller waits for. */
export async function bare(signals = 2): Promise<void> {
  let heard = 0;
  setHandler(next, () => {
    heard++;
    bench.ran();
  });
  bench.ran();
  await condition(() => heard >= signals);
}

/** Asks Docket for a decision by Nexus, and waits for it. */
export const asking = (ticket: object): Promise<object> =>
  createNexusServiceClient({ endpoint: 'docket', service: Docket }).executeOperation('ticket', ticket);
