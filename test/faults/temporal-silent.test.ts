import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { afterAll, expect, inject, test } from 'vitest';
import { keepRunning } from '../../cli/servers/supervisor.ts';
import { startTemporal } from '../../cli/servers/temporal.ts';
import { eventually } from '../support/client.ts';
import { lastingPort } from '../support/ports.ts';

const PATIENCE_MS = 4_000;
const said: string[] = [];
const own = {
  dir: mkdtempSync(join(tmpdir(), 'docket-silent-')),
  port: await lastingPort(),
  uiPort: await lastingPort(),
};
const options = { ...own, cli: inject('temporalCli'), namespace: 'default', patienceMs: PATIENCE_MS };
const { first, stop } = await keepRunning('Temporal', (signal) => startTemporal({ ...options, signal }), {
  say: (line) => said.push(line),
});
afterAll(stop);

test('S0.9 a Temporal server that lives but answers nothing is started again, and only then', async () => {
  await sleep(2 * PATIENCE_MS);
  expect(said).toEqual([]);
  process.kill(first.pid, 'SIGSTOP');
  await eventually(async () => said.includes('Temporal runs again'), 90_000);
  expect(said[0]).toMatch(/^Temporal ended unexpectedly \(it has answered nothing for 4 s: .+\); restarting it$/);
  const connection = await Connection.connect({ address: first.address });
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'default' });
  await connection.close();
  expect(namespaceInfo?.name).toBe('default');
}, 120_000);
