import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, type InjectedSinks, NativeConnection, Runtime, Worker } from '@temporalio/worker';

export type BareSinks = { bench: { ran(): void } };

// The rival of bench/scenarios/workflows.ts, with the settings of worker/worker.ts. Over HTTP it says how many messages its
// workflows have received.
let received = 0;
const sinks: InjectedSinks<BareSinks> = { bench: { ran: { fn: () => void received++ } } };

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
const worker = await Worker.create({
  connection,
  taskQueue: 'bare',
  workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
  sinks,
  maxCachedWorkflows: 500,
  maxConcurrentActivityTaskExecutions: 20,
  maxConcurrentLocalActivityExecutions: 20,
});
const server = createServer((_, response) => response.end(String(received)));
server.listen(0, '127.0.0.1', () => console.log(`ready on http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => worker.shutdown());
await worker.run();
server.close();
await connection.close();
