import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { needDebian } from '../support/debian.ts';
import { startTestSystem } from '../support/system.ts';
import { startOracle } from './oracle.ts';

const PYTHON_CLIENTS = ['greenstalk==2.1.1', 'pystalk==0.9.1'];

const require = createRequire(import.meta.url);
const script = (name: string) => fileURLToPath(new URL(`clients/${name}`, import.meta.url));
const oracle = await startOracle();
const { running } = await startTestSystem({ BEANSTALKD_PORT: '0' }, { role: 'api' });
const port = running.beanstalkd?.port ?? 0;

/** What a client has seen of beanstalkd itself is what it has to see of Docket. */
async function sees(client: (port: number) => Promise<unknown[]>): Promise<unknown[]> {
  const [theirs, ours] = [await client(oracle.port), await client(port)];
  expect(ours).toEqual(theirs);
  return ours;
}

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** Neither npm client comes with types that TypeScript takes here. */
function asked(client: Methods, name: string, args: unknown[]): Promise<unknown> {
  const method = client[name];
  if (!method) throw new Error(`the client has no ${name}`);
  return method.apply(client, args);
}

async function output(program: string, ...args: string[]): Promise<unknown[]> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: 30_000 });
  return JSON.parse(stdout) as unknown[];
}

/** A virtual environment in the cache folder, made once. */
function python(): string {
  const folder = join(inject('cacheDir'), 'beanstalkd-clients-1');
  const program = join(folder, 'bin', 'python');
  if (!existsSync(join(folder, 'bin', 'pip'))) execFileSync('python3', ['-m', 'venv', folder], { stdio: 'pipe' });
  try {
    execFileSync(program, ['-c', 'import greenstalk, pystalk'], { stdio: 'pipe' });
  } catch {
    execFileSync(program, ['-m', 'pip', 'install', '-q', ...PYTHON_CLIENTS], { stdio: 'pipe' });
  }
  return program;
}

describe('S3.8 clients made for beanstalkd work unchanged', () => {
  test('jackd (npm)', async () => {
    const Jackd = require('jackd') as new () => Methods;
    await sees(async (at) => {
      const client = new Jackd();
      const ask = (name: string, ...args: unknown[]) => asked(client, name, args);
      const id = (job: unknown) => (job as { id: string }).id;
      const text = (job: unknown) => String((job as { payload: Buffer }).payload);
      await ask('connect', { host: '127.0.0.1', port: at });
      const seen: unknown[] = [await ask('use', 'jackd'), await ask('watch', 'jackd'), await ask('ignore', 'default')];
      await ask('put', 'Grüße', { priority: 10, ttr: 60 });
      let job = await ask('reserve');
      await ask('touch', id(job));
      await ask('release', id(job), { priority: 5, delay: 0 });
      seen.push(text(job), String(await ask('statsJob', id(job))).match(/(state|pri|reserves|releases): .*/g));
      job = await ask('reserveWithTimeout', 5);
      await ask('bury', id(job), 7);
      seen.push(text(await ask('peekBuried')), await ask('kick', 10));
      job = await ask('reserve');
      await ask('delete', id(job));
      await ask('put', Buffer.from([0, 255, 13, 10]), { delay: 1 });
      job = await ask('reserve');
      seen.push([...(job as { payload: Buffer }).payload]);
      await ask('delete', id(job));
      seen.push(await ask('delete', id(job)).catch(String), await ask('reserveWithTimeout', 0).catch(String));
      seen.push(
        String(await ask('statsTube', 'jackd')).match(/(total-jobs|cmd-delete|current-using): .*/g),
        await ask('getCurrentTube').catch(String),
      );
      await ask('quit');
      return seen;
    });
  });

  test('beanstalkd (npm)', async () => {
    const loaded = require('beanstalkd') as { default?: unknown };
    const Client = (loaded.default ?? loaded) as new (host: string, port: number) => Methods;
    await sees(async (at) => {
      const client = new Client('127.0.0.1', at);
      const ask = (name: string, ...args: unknown[]) => asked(client, name, args);
      const reserve = async () => (await ask('reserve')) as [id: string, body: Buffer];
      await ask('connect');
      const seen: unknown[] = [await ask('use', 'node'), await ask('watch', 'node'), await ask('ignore', 'default')];
      await ask('put', 10, 0, 60, 'hello');
      let [id, body] = await reserve();
      await ask('touch', id);
      await ask('release', id, 5, 0);
      const { state, pri, reserves, releases } = (await ask('statsJob', id)) as Record<string, unknown>;
      seen.push(String(body), state, pri, reserves, releases);
      [id] = await reserve();
      await ask('bury', id, 7);
      seen.push(String(((await ask('peekBuried')) as [string, Buffer])[1]), await ask('kickJob', id));
      [id] = await reserve();
      await ask('delete', id);
      await ask('put', 0, 1, 60, 'later');
      [id, body] = await reserve();
      seen.push(String(body));
      await ask('delete', id);
      seen.push(await ask('delete', id).catch(String), await ask('reserveWithTimeout', 0).catch(String));
      const { totalJobs, cmdDelete } = (await ask('statsTube', 'node')) as Record<string, unknown>;
      seen.push(totalJobs, cmdDelete, await ask('listTubeUsed'), await ask('listTubesWatched'));
      await ask('quit');
      return seen;
    });
  });

  test('greenstalk (Python)', async () => {
    const program = python();
    const seen = await sees((at) => output(program, script('with_greenstalk.py'), String(at)));
    expect(seen[0]).toBe('Grüße');
  });

  test('pystalk (Python)', async () => {
    const program = python();
    const seen = await sees((at) => output(program, script('with_pystalk.py'), String(at)));
    expect(seen[0]).toBe('hello');
  });

  test('Pheanstalk (PHP)', async () => {
    needDebian('php-cli', 'php-pda-pheanstalk');
    const seen = await sees((at) => output('php', script('with_pheanstalk.php'), String(at)));
    expect(seen[0]).toBe('Grüße');
  });
});
