import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { needDebian } from '../support/debian.ts';
import { createKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';

const { running } = await startTestSystem({ LMSTFY_PORT: '0', DOCKET_AUTH: 'keys' }, { role: 'api' });
const run = promisify(execFile);

/** The worker of clients/rust with lmstfy's own client; what it is built of is kept for the next run. */
async function rustWorker(cacheDir: string): Promise<string> {
  needDebian('cargo', 'pkg-config', 'libssl-dev');
  const target = join(cacheDir, 'lmstfy-rust');
  mkdirSync(target, { recursive: true });
  const project = fileURLToPath(new URL('clients/rust/Cargo.toml', import.meta.url));
  await run('cargo', ['build', '--quiet', '--locked', '--manifest-path', project, '--target-dir', target]);
  return join(target, 'debug', 'worker');
}

test("S3.8 lmstfy's own client for Rust works unchanged", async () => {
  const worker = await rustWorker(inject('cacheDir'));
  const { db } = running.runtime;
  const { key } = await createKey(db, { name: 'shop', role: 'consumer', subject: null, queues: ['shop/*'] });
  const { stdout } = await run(worker, [String(running.lmstfy?.port), key], { timeout: 100_000 });
  const seen = stdout.split('\n').filter((line) => line.startsWith('seen: '));
  expect(seen.map((line) => line.slice('seen: '.length))).toEqual([
    'published true true',
    'sizes 1 0',
    'peeked true bm93 true',
    'unknown true',
    'first ["shop/urgent bm93"]',
    'second ["shop/orders R3LDvMOfZQ=="] 0 true',
    'again true',
    'dead true 0',
    'respawned 1',
    'consumed true true',
    'republished true true',
    'delayed true',
    'due ["shop/orders bGF0ZXI="]',
    'batches 3 1',
    'refused queue name contains forbidden characters',
    'foreign true',
  ]);
}, 600_000);
