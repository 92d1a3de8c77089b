import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, inject, test } from 'vitest';
import { workflowBundle } from '../../worker/worker.ts';
import { startTestSystem, type TestSystem } from '../support/system.ts';
import { casePaths } from './case-paths.ts';
import { paths as others } from './paths.ts';
import { taskPaths } from './task-paths.ts';

const paths = [...others, ...casePaths, ...taskPaths];

const folder = fileURLToPath(new URL('histories/', import.meta.url));
const recorded = readdirSync(folder).filter((f) => f.endsWith('.json'));
const read = (file: string): unknown => JSON.parse(readFileSync(folder + file, 'utf8'));
const current = await workflowBundle(inject('cacheDir'));

describe('S0.9 recorded histories replay on the code as it is', () => {
  test('there is one for each path', () => {
    expect(recorded.length).toBeGreaterThanOrEqual(paths.length);
  });
  test.each(recorded)('%s', async (file) => {
    await Worker.runReplayHistory({ workflowBundle: current }, read(file));
  });
});

test('the control: a workflow with one timer too many is rejected', async () => {
  const workflowsPath = fileURLToPath(new URL('altered.ts', import.meta.url));
  const altered = await bundleWorkflowCode({ workflowsPath });
  for (const file of recorded.filter((f) => /^(ticket|review|case|task|rotation)-/.test(f)))
    await expect(Worker.runReplayHistory({ workflowBundle: altered }, read(file)), file).rejects.toThrow(
      DeterminismViolationError,
    );
});

/** A history as an operator would export it. */
function show({ namespace }: TestSystem, workflowId: string, runId: string): string {
  const args = ['workflow', 'show', '-w', workflowId, '-r', runId, '--output', 'json', '--namespace', namespace];
  return execFileSync(inject('temporalCli'), [...args, '--address', inject('temporal')], { encoding: 'utf8' });
}

/** Fresh histories of every path replay too; with RECORD=1 they become the recorded ones. */
describe('S0.9 fresh histories replay', async () => {
  const systems = { on: await startTestSystem(), off: await startTestSystem({ DOCKET_PACEMAKER: 'off' }) };
  test.each(paths)(
    '$name',
    async ({ name, pacemaker, walk, workflowId = (id) => `ticket/${id}` }) => {
      const system = systems[pacemaker];
      await walk(system, name);
      const { client } = system.running.runtime;
      const { raw } = await client.workflow.getHandle(workflowId(name)).describe();
      const runs = [raw.workflowExecutionInfo?.firstRunId, raw.workflowExecutionInfo?.execution?.runId];
      for (const [n, runId] of [...new Set(runs)].entries()) {
        const text = show(system, workflowId(name), runId ?? '');
        await Worker.runReplayHistory({ workflowBundle: current }, JSON.parse(text));
        if (process.env.RECORD === '1') writeFileSync(`${folder}${name}${n === 0 ? '' : `-${n + 1}`}.json`, text);
      }
    },
    90_000,
  );
});
