import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { NEXUS_TASK_QUEUE } from '../../runtime/followers/publisher.ts';
import { atEndOfFile } from './endings.ts';
import type { ask } from './nexus-callers.ts';
import { testStores } from './system.ts';

const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error };

/** The messages of an error and of its causes. */
export function messagesOf(error: unknown): string {
  const says: string[] = [];
  for (let at = error as Error | undefined; at; at = at.cause as Error | undefined) says.push(at.message);
  return says.join(' | ');
}

/** gRPC */
const ALREADY_EXISTS = 6;

/** The Nexus endpoint of a Docket; its name. */
export async function startEndpoint({ namespace }: { namespace: string }): Promise<string> {
  const connection = await Connection.connect({ address: inject('temporal') });
  const name = `docket-of-${namespace}`;
  const target = { worker: { namespace, taskQueue: NEXUS_TASK_QUEUE } };
  await connection.operatorService.createNexusEndpoint({ spec: { name, target } }).catch((error) => {
    if (error.code !== ALREADY_EXISTS) throw error;
  });
  await connection.close();
  return name;
}

/** A worker of somebody else in a namespace of its own, whose workflows call the Docket of another namespace by Nexus. */
export async function startCallers(docket: { namespace: string }, dataConverter: DataConverter = {}) {
  const { namespace, temporalAddress: address } = await testStores();
  const connection = await Connection.connect({ address });
  const endpoint = await startEndpoint(docket);
  const workflowsPath = fileURLToPath(new URL('./nexus-callers.ts', import.meta.url));
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: quiet as never });
  const native = await NativeConnection.connect({ address });
  const options = { connection: native, namespace, taskQueue: 'callers', workflowBundle, dataConverter };
  const worker = await Worker.create(options);
  const running = worker.run();
  atEndOfFile(async () => {
    worker.shutdown();
    await running;
    await native.close();
    await connection.close();
  });
  const client = new Client({ connection, namespace, dataConverter });
  let calls = 0;
  /** Starts a workflow that asks; undefined results are those of a workflow that waits. */
  const start = (of: Parameters<typeof ask>[1], input: object, workflowId = `caller-${++calls}`) =>
    client.workflow.start<typeof ask>('ask', { workflowId, taskQueue: 'callers', args: [endpoint, of, input] });
  return { client, endpoint, namespace, start };
}
