import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { freePort } from '../../runtime/ports.ts';
import { installDebian } from '../support/debian.ts';
import { Wire } from './wire.ts';

/** Makes sure that programs of Debian packages are there. As root they are installed, and it is said. */
export function needDebian(packages: Record<string, string>): void {
  const missing = Object.entries(packages).filter(([, program]) => !exists(program));
  if (missing.length === 0) return;
  const names = missing.map(([name]) => name);
  if (process.getuid?.() !== 0) throw new Error(`these tests need: apt-get install ${names.join(' ')}`);
  installDebian(names);
}

/** A program on the PATH, or a file by its absolute path: there is a folder `beanstalkd` here, too. */
function exists(what: string): boolean {
  if (what.startsWith('/')) return existsSync(what);
  try {
    execFileSync('sh', ['-c', `command -v ${what}`], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

/** beanstalkd itself, on a port of its own. Stopped after the file's tests. */
export async function startOracle(): Promise<{ port: number; version: string }> {
  needDebian({ beanstalkd: 'beanstalkd' });
  const port = await freePort();
  const child = spawn('beanstalkd', ['-l', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  afterAll(() => void child.kill());
  for (let left = 100; ; left--)
    try {
      (await Wire.open(port)).close();
      break;
    } catch (error) {
      if (left === 0) throw error;
      await sleep(50);
    }
  return { port, version: execFileSync('beanstalkd', ['-v'], { encoding: 'utf8' }).trim() };
}
