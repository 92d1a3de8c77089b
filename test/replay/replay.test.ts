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
import { waitingPaths } from './waiting-paths.ts';

const paths = [...others, ...casePaths, ...taskPaths, ...waitingPaths];

const folder = fileURLToPath(new URL('histories/', import.meta.url));
const recorded = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ name, history: JSON.parse(readFileSync(folder + name, 'utf8')) as unknown }));
const current = await workflowBundle(inject('cacheDir'));

/** Errors of the histories that do not replay, by name. One worker replays all: each costs seconds to make. */
async function failures(workflowBundle: typeof current, histories: { name: string; history: unknown }[]) {
  const named = histories.map(({ name, history }) => ({ workflowId: name, history }));
  const failed: Record<string, Error> = {};
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, named))
    if (error) failed[workflowId] = error;
  return failed;
}

test('S0.9 recorded histories replay on the code as it is: one for each path', async () => {
  expect(recorded.length).toBeGreaterThanOrEqual(paths.length);
  expect(await failures(current, recorded)).toEqual({});
});

test('the control: a workflow with one timer too many is rejected', async () => {
  const workflowsPath = fileURLToPath(new URL('altered.ts', import.meta.url));
  const altered = await bundleWorkflowCode({ workflowsPath });
  const ours = recorded.filter(({ name }) => /^(ticket|review|case|task|rotation|awaiting)-/.test(name));
  const failed = await failures(altered, ours);
  expect(Object.keys(failed).sort()).toEqual(ours.map(({ name }) => name).sort());
  for (const error of Object.values(failed)) expect(error).toBeInstanceOf(DeterminismViolationError);
});

/** A history as an operator would export it. */
function show({ namespace }: TestSystem, workflowId: string, runId: string): string {
  const args = ['workflow', 'show', '-w', workflowId, '-r', runId, '--output', 'json', '--namespace', namespace];
  return execFileSync(inject('temporalCli'), [...args, '--address', inject('temporal')], { encoding: 'utf8' });
}

/** Fresh histories of every path replay too; with RECORD=1 they become the recorded ones. */
describe('S0.9 fresh histories replay', async () => {
  const fresh: typeof recorded = [];
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
        const file = `${name}${n === 0 ? '' : `-${n + 1}`}.json`;
        fresh.push({ name: file, history: JSON.parse(text) });
        if (process.env.RECORD === '1') writeFileSync(folder + file, text);
      }
    },
    90_000,
  );

  test('all of them', async () => {
    expect(fresh.length).toBeGreaterThanOrEqual(paths.length);
    expect(await failures(current, fresh)).toEqual({});
  });
});
