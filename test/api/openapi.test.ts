import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, test } from 'vitest';
import { createKey } from '../support/keys.ts';
import { pythonWith } from '../support/python.ts';
import { startTestSystem, type TestSystem } from '../support/system.ts';

const EXAMPLES = process.env.FUZZ_EXAMPLES ?? '10';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const packages = readFileSync(here('schemathesis.txt'), 'utf8').trim().split('\n');
const python = pythonWith(inject('cacheDir'), 'schemathesis', packages);
const dir = mkdtempSync(join(tmpdir(), 'docket-openapi-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Streams never end by themselves, so they are left out. */
const OPTIONS = ['--exclude-path', '/v1/stream', '--exclude-path', '/v1/feed', '--no-color', '--no-shrink'];
/** Each bound of each field, ten minutes of it, is tried at night; what is the same for every seed with the first one only. */
const phasesOf = (seed: number) => {
  if (seed > 1) return 'fuzzing,stateful';
  return process.env.DOCKET_NIGHTLY ? 'examples,coverage,fuzzing,stateful' : 'examples,fuzzing,stateful';
};

/** Deletes schedules until the signal: dozens that fire each second would take the machine from the calls. */
async function sweep({ api, sql }: TestSystem, key: string, signal: AbortSignal): Promise<void> {
  const admin = api.as(key);
  while (!signal.aborted) {
    for (const { topic, name } of await sql('select topic, name from schedule')) {
      const path = `/v1/topics/${encodeURIComponent(topic)}/schedules/${encodeURIComponent(name)}`;
      await admin.raw('DELETE', path);
    }
    await sleep(1_000, undefined, { signal }).catch(() => {});
  }
}

async function fuzz(seed: number): Promise<{ code: number | null; output: string }> {
  const system = await startTestSystem({ DOCKET_AUTH: 'keys' });
  const { api, running } = system;
  const { key } = await createKey(running.runtime.db, { name: 'fuzzer', role: 'admin', subject: null });
  const args = ['--config-file', here('schemathesis.toml'), 'run', `${api.url}/openapi.json`, '--seed', String(seed)];
  const limits = ['--max-examples', EXAMPLES, '--request-timeout', '70', '--suppress-health-check', 'all'];
  limits.push('--phases', phasesOf(seed));
  const program = ['-c', 'import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())'];
  const all = [...program, ...args, ...limits, ...OPTIONS, '-H', `Authorization: Bearer ${key}`];
  const child = spawn(python, all, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const over = new AbortController();
  const swept = sweep(system, key, over.signal);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  over.abort();
  await swept;
  return { code, output };
}

// Others with DOCKET_NIGHTLY=1: most of what is random in them is random in the first one, too.
const SEEDS = process.env.DOCKET_NIGHTLY ? [1, 2, 3] : [1];

// What the document allows is accepted, what it forbids is refused, and every answer is one that it describes. Together,
// because long polls that are among the calls leave the machine idle.
test.concurrent.each(SEEDS)(
  'S0.9 the API is what its OpenAPI document says: seed %i',
  async (seed) => {
    const { code, output } = await fuzz(seed);
    expect(code, output.slice(-20_000)).toBe(0);
  },
  1_800_000,
);
