import type { Client } from '@temporalio/client';
import type { Publication } from '../../runtime/followers/messages.ts';
import { Sender, type SenderOptions } from '../../runtime/followers/sender.ts';

const ROW = {
  kind: 'ticket',
  id: 't',
  queue: 'q',
  state: 'decided',
  version: 1,
  wake_at: null,
  delivery_pending: true,
};

/** Of a decided ticket whose callback is pending, but for what is given. */
export const publicationOf = (row: Partial<Publication['row']> = {}) =>
  ({
    row: { ...ROW, ...row },
    ...{ now: new Date(), epoch: 0, shard: 0, position: 7, events: [], fresh: true, optional: false },
  }) as unknown as Publication;

type Start = (type: string, options: { workflowId: string }) => Promise<void>;

/** A sender whose Temporal answers a start, and a signal, as `start` does. */
export function senderTo(start: Start, options: Partial<SenderOptions> = {}): Sender {
  const getHandle = (workflowId: string) => ({ signal: (type: string) => start(type, { workflowId }) });
  const client = { workflow: { start, getHandle }, withDeadline: (_: number, call: () => unknown) => call() };
  return new Sender({
    client: client as unknown as Client,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ...{ pacemaker: true, publishConcurrency: 10, publishIdlePerSecond: 10, publishBusyPerSecond: 10 },
    callers: { slowdown: undefined },
    isNeedless: () => false,
    done: () => {},
    refused: async () => {},
    ...options,
  });
}
