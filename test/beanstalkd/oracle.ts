import { execFileSync, spawn } from 'node:child_process';
import { freePort } from '../../cli/servers/ports.ts';
import { needDebian } from '../support/debian.ts';
import { atEndOfFile } from '../support/endings.ts';
import { eventually } from '../support/eventually.ts';
import { Wire } from './wire.ts';

/** beanstalkd itself, on a port of its own. Stopped after the file's tests. */
export async function startOracle(): Promise<{ port: number; version: string }> {
  needDebian('beanstalkd');
  const port = await freePort();
  const child = spawn('beanstalkd', ['-l', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  atEndOfFile(() => void child.kill());
  const wire = await eventually(() => Wire.open(port));
  wire.close();
  return { port, version: execFileSync('beanstalkd', ['-v'], { encoding: 'utf8' }).trim() };
}
