import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, test, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { needDebian } from '../support/debian.ts';
import { pythonWith } from '../support/python.ts';
import { startOracle } from './oracle.ts';
import { startTubes } from './system.ts';

// the first run installs clients
vi.setConfig({ testTimeout: 300_000 });

const PYTHON_CLIENTS = ['greenstalk==2.1.1', 'pystalk==0.9.1'];

const require = createRequire(import.meta.url);
const script = (name: string) => fileURLToPath(new URL(`clients/${name}`, import.meta.url));
const oracle = await startOracle();
const { port } = await startTubes();

/** What a client has seen of beanstalkd itself is what it has to see of Docket. */
async function sees(client: (port: number) => Promise<unknown[]>): Promise<unknown[]> {
  const [theirs, ours] = [await client(oracle.port), await client(port)];
  expect(ours).toEqual(theirs);
  return ours;
}

async function output(program: string, ...args: string[]): Promise<unknown[]> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: 30_000 });
  return JSON.parse(stdout) as unknown[];
}

describe('S3.8 clients made for beanstalkd work unchanged', () => {
  test('jackd (npm)', async () => {
    const Jackd: Json = require('jackd');
    await sees(async (at) => {
      const client = new Jackd();
      await client.connect({ host: '127.0.0.1', port: at });
      const seen: unknown[] = [await client.use('jackd'), await client.watch('jackd'), await client.ignore('default')];
      await client.put('Grüße', { priority: 10, ttr: 60 });
      let job = await client.reserve();
      await client.touch(job.id);
      await client.release(job.id, { priority: 5, delay: 0 });
      seen.push(String(job.payload), String(await client.statsJob(job.id)).match(/(state|pri|reserves|releases): .*/g));
      job = await client.reserveWithTimeout(5);
      await client.bury(job.id, 7);
      seen.push(String((await client.peekBuried()).payload), await client.kick(10));
      job = await client.reserve();
      await client.delete(job.id);
      await client.put(Buffer.from([0, 255, 13, 10]), { delay: 1 });
      job = await client.reserve();
      seen.push([...job.payload]);
      await client.delete(job.id);
      seen.push(await client.delete(job.id).catch(String), await client.reserveWithTimeout(0).catch(String));
      seen.push(
        String(await client.statsTube('jackd')).match(/(total-jobs|cmd-delete|current-using): .*/g),
        await client.getCurrentTube().catch(String),
      );
      await client.quit();
      return seen;
    });
  });

  test('beanstalkd (npm)', async () => {
    const loaded: Json = require('beanstalkd');
    const Client = loaded.default ?? loaded;
    await sees(async (at) => {
      const client = new Client('127.0.0.1', at);
      await client.connect();
      const seen: unknown[] = [await client.use('node'), await client.watch('node'), await client.ignore('default')];
      await client.put(10, 0, 60, 'hello');
      let [id, body] = await client.reserve();
      await client.touch(id);
      await client.release(id, 5, 0);
      const { state, pri, reserves, releases } = await client.statsJob(id);
      seen.push(String(body), state, pri, reserves, releases);
      [id] = await client.reserve();
      await client.bury(id, 7);
      seen.push(String((await client.peekBuried())[1]), await client.kickJob(id));
      [id] = await client.reserve();
      await client.delete(id);
      await client.put(0, 1, 60, 'later');
      [id, body] = await client.reserve();
      seen.push(String(body));
      await client.delete(id);
      seen.push(await client.delete(id).catch(String), await client.reserveWithTimeout(0).catch(String));
      const { totalJobs, cmdDelete } = await client.statsTube('node');
      seen.push(totalJobs, cmdDelete, await client.listTubeUsed(), await client.listTubesWatched());
      await client.quit();
      return seen;
    });
  });

  test.each(Object.entries({ greenstalk: 'Grüße', pystalk: 'hello' }))('%s (Python)', async (name, first) => {
    const python = pythonWith(inject('cacheDir'), 'beanstalkd', PYTHON_CLIENTS);
    const seen = await sees((at) => output(python, script(`with_${name}.py`), String(at)));
    expect(seen[0]).toBe(first);
  });

  test('Pheanstalk (PHP)', async () => {
    needDebian('php-cli', 'php-pda-pheanstalk');
    const seen = await sees((at) => output('php', script('with_pheanstalk.php'), String(at)));
    expect(seen[0]).toBe('Grüße');
  });
});
