import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lines of `ps` of the processes in whose command line `mark` stands, like a data folder: servers and watchdogs. */
export const processesWith = (mark: string) =>
  execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(mark) && !line.includes('ps -eo'));

/** The pid in a file of the data folder of `npm start`. */
export const pidIn = (data: string, file: 'docket.pid' | 'temporal/temporal.pid' | 'postgres/postmaster.pid') =>
  Number(readFileSync(join(data, file), 'utf8').split('\n')[0]);

/** Whether a signal was sent to a process that it has not taken yet, because it had no time to run. Linux only. */
export function hasPendingSignal(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return /^(Sig|Shd)Pnd:\s*0*[1-9a-f]/m.test(status);
}
