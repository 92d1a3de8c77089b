import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Wire } from '../../test/beanstalkd/wire.ts';
import { needDebian } from '../../test/support/debian.ts';
import type { Lab } from '../lab.ts';
import { type JobCaller, type NewJob, type Queues, startServer, type Taken } from './rival.ts';

const TTR = 60;

/** beanstalkd with its log in a folder of its own, synced after each write or never. */
export async function openBeanstalkd(lab: Lab, fsync: boolean): Promise<Queues> {
  needDebian('beanstalkd');
  const version = execFileSync('beanstalkd', ['-v'], { encoding: 'utf8' }).trim();
  const name = `beanstalkd-${fsync ? 'fsync' : 'nosync'}`;
  const dir = mkdtempSync(join(lab.dir, `${name}-`));
  const server = await startServer(lab, name, 'beanstalkd', (port) => [
    ...['-l', '127.0.0.1', '-p', String(port), '-b', dir],
    ...(fsync ? ['-f', '0'] : ['-F']),
  ]);
  return {
    name: `${version}, ${fsync ? 'fsync each write' : 'no fsync'}`,
    durable: fsync,
    wholeSeconds: true,
    lighter:
      'all jobs are in the memory of one process without a replica, its log is one append for a put and one for a delete, a reservation is not written, and there is no history, id of the caller’s or query',
    callers: (n) => tubeCallers(() => server.port, n),
    stop: server.stop,
  };
}

/** Callers that speak beanstalkd's protocol, with whatever server. */
export const tubeCallers = (port: () => number, n: number): Promise<JobCaller[]> =>
  Promise.all(Array.from({ length: n }, async () => new TubeCaller(await Wire.open(port()))));

/** Its protocol has no command for many: they are pipelined. */
class TubeCaller implements JobCaller {
  readonly #wire: Wire;
  #used = 'default';
  #watched = 'default';

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  async add(topic: string, jobs: NewJob[]): Promise<void> {
    if (this.#used !== topic) await this.#ask(`use ${topic}`, 'USING');
    this.#used = topic;
    const puts = jobs.map(({ body, delaySeconds }) => {
      const text = JSON.stringify(body);
      return `put 1024 ${delaySeconds} ${TTR} ${Buffer.byteLength(text)}\r\n${text}`;
    });
    await this.#all(puts, /^INSERTED/);
  }

  async take(topic: string, most: number, waitSeconds = 0): Promise<Taken[]> {
    if (this.#watched !== topic) {
      await this.#ask(`watch ${topic}`, 'WATCHING');
      await this.#ask(`ignore ${this.#watched}`, 'WATCHING');
      this.#watched = topic;
    }
    const reserve = async (n: number, wait: number) => {
      const commands = Array.from({ length: n }, () => `reserve-with-timeout ${wait}`);
      const replies = await this.#all(commands, /^(RESERVED|TIMED_OUT)/);
      return replies.filter((reply) => reply.startsWith('RESERVED')).map(takenFrom);
    };
    if (waitSeconds === 0) return reserve(most, 0);
    // only the first is waited for
    const first = await reserve(1, waitSeconds);
    return first.length === 0 || most === 1 ? first : [...first, ...(await reserve(most - 1, 0))];
  }

  async finish(_: string, jobs: Taken[]): Promise<void> {
    await this.#all(
      jobs.map(({ ref }) => `delete ${ref}`),
      /^DELETED/,
    );
  }

  close(): void {
    this.#wire.close();
  }

  async #ask(command: string, expected: string): Promise<void> {
    await this.#all([command], new RegExp(`^${expected}`));
  }

  async #all(commands: string[], expected: RegExp): Promise<string[]> {
    this.#wire.send(commands.map((c) => `${c}\r\n`).join(''));
    const replies: string[] = [];
    for (const command of commands) {
      const reply = await this.#wire.reply();
      if (!expected.test(reply)) throw new Error(`${command.split('\r\n')[0]} was answered ${reply}`);
      replies.push(reply);
    }
    return replies;
  }
}

function takenFrom(reply: string): Taken {
  const [head = '', body = ''] = reply.split('\r\n');
  return { order: (JSON.parse(body) as NewJob['body']).order, ref: head.split(' ')[1] };
}
