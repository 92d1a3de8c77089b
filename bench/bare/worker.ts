import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

// The rival of bench/scenarios/workflows.ts, with the settings of worker/worker.ts.
Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
const worker = await Worker.create({
  connection,
  taskQueue: 'bare',
  workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
  maxCachedWorkflows: 500,
  maxConcurrentActivityTaskExecutions: 20,
  maxConcurrentLocalActivityExecutions: 20,
});
process.on('SIGTERM', () => worker.shutdown());
console.log('ready');
await worker.run();
await connection.close();
