import { expect, inject, test } from 'vitest';
import { launch } from '../support/child.ts';
import { eventually } from '../support/client.ts';
import { messagesOf, startCallers } from '../support/nexus.ts';
import { startTestSystem } from '../support/system.ts';
import { CALLERS } from './callers.ts';

const system = await startTestSystem({ DOCKET_NEXUS_QUEUES: '*' });
const { api } = system;
const { client, endpoint, namespace } = await startCallers(system);

test.each(Object.keys(CALLERS))(
  'B.1 a workflow in %s waits for a decision, and learns what is wrong',
  async (language) => {
    const env = { TEMPORAL_ADDRESS: inject('temporal'), TEMPORAL_NAMESPACE: namespace };
    const worker = launch(await (CALLERS[language] as () => Promise<string[]>)(), env);
    await eventually(async () => worker.output().includes('ready'), 60_000);
    const start = (input: object) =>
      client.workflow.start('ask', {
        ...{ workflowId: `${language}-${JSON.stringify(input)}`, taskQueue: language },
        args: [endpoint, 'ticket', input],
      });
    const handle = await start({ queue: language, id: language, body: { amount: 900 } });
    await eventually(async () => (await api.get(`/v1/tickets/${language}`)).status === 200, 60_000);
    await api.post(`/v1/tickets/${language}/resolve`, { decision: { pay: true }, reason: 'elsewhere' });
    expect(await handle.result()).toMatchObject({ state: 'decided', decision: { pay: true }, reason: 'elsewhere' });
    const failed = await (await start({ queue: language, body: 1 })).result().catch((error: unknown) => error);
    expect(messagesOf(failed)).toContain('invalid_request: id');
    await worker.end('SIGTERM');
  },
  600_000,
);
