import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { cpuSeconds, type Lab } from '../lab.ts';
import { type Cpu, cpuOf, totalOf } from './model.ts';

/** What was used from one moment to another. */
export interface Used {
  seconds: number;
  cpu: Cpu;
  /** Bytes of write-ahead log, without `pages`. */
  wal: number;
  /** Bytes of pages that were written whole, because they changed for the first time since a checkpoint. */
  pages: number;
  /** How busy the cores were while this was used, 0 to 1: the mean over what was used, not over the time. */
  busy: number;
  /** Seconds of cores that others had: processes that are not of this bench, and the host of this machine. */
  others: number;
}

interface Reading {
  at: number;
  cpu: Omit<Cpu, 'kernel'>;
  /** By the number of the thread: they come and go. */
  threads: Map<number, number>;
  interrupts: number;
  /** Of all cores, what the host took of them too. */
  machine: number;
  lsn: string;
}

const TICKS = 100;
const WATCH_MS = 250;
/** The parent of the kernel's own threads. */
const KTHREADD = 2;

/** Reads CPU of all processes of a bench, and the write-ahead log. Linux only. */
export class Meter {
  readonly #lab: Lab;
  readonly #postmaster: number;
  /** Docket's processes, while they run. */
  apis: number[] = [];
  workers: number[] = [];

  constructor(lab: Lab) {
    this.#lab = lab;
    this.#postmaster = Number(readFileSync(join(lab.dir, 'pg', 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  /** @returns what says how much has been used since */
  async start(): Promise<() => Promise<Used>> {
    await this.#lab.sql('create extension if not exists pg_walinspect');
    const from = await this.#read();
    const busyness = watchCores();
    return async () => {
      const busy = busyness();
      const to = await this.#read();
      const { bytes, pages } = await this.#log(from.lsn, to.lsn);
      const threads = [...to.threads].reduce((sum, [pid, seconds]) => sum + seconds - (from.threads.get(pid) ?? 0), 0);
      const kernel = threads + to.interrupts - from.interrupts;
      const cpu = cpuOf((component) => (component === 'kernel' ? kernel : to.cpu[component] - from.cpu[component]));
      const others = Math.max(0, to.machine - from.machine - totalOf(cpu));
      return { seconds: (to.at - from.at) / 1000, cpu, wal: bytes - pages, pages, busy, others };
    };
  }

  /** All of a component's threads on these cores, and what it starts from then on. */
  pin(cores: string, ...pids: number[]): void {
    for (const pid of pids) execFileSync('taskset', ['-a', '-c', '-p', cores, String(pid)]);
  }

  /** The postmaster and its backends. */
  get postgres(): number[] {
    return [this.#postmaster, ...childrenOf(this.#postmaster)];
  }

  async #log(from: string, to: string): Promise<{ bytes: number; pages: number }> {
    // the function wants at least one record
    const [log] =
      from === to
        ? []
        : await this.#lab.sql<{ bytes: number; pages: number }>(
            `select ($2::pg_lsn - $1::pg_lsn)::double precision as bytes, sum(fpi_size)::double precision as pages
               from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)`,
            [from, to],
          );
    return log ?? { bytes: 0, pages: 0 };
  }

  async #read(): Promise<Reading> {
    const [row] = await this.#lab.sql<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn');
    const sum = (pids: number[]) => pids.reduce((total, pid) => total + secondsOf(pid), 0);
    const { user, system } = process.cpuUsage();
    const cpu = {
      api: sum(this.apis),
      // backends that have ended count as waited-for children of the postmaster
      postgres: endedOf(this.#postmaster) + sum(this.postgres),
      worker: sum(this.workers),
      temporal: cpuSeconds(this.#lab.temporalPid),
      callers: (user + system) / 1e6,
    };
    const { busy, interrupts, stolen } = machineSeconds();
    const threads = new Map(childrenOf(KTHREADD).map((pid) => [pid, secondsOf(pid)]));
    const machine = busy + stolen;
    return { at: performance.now(), cpu, threads, interrupts, machine, lsn: row?.lsn ?? '' };
  }
}

/** Of several measurements one after the other. */
export const together = (all: Used[]): Used => {
  const sum = (of: (used: Used) => number) => all.reduce((total, used) => total + of(used), 0);
  const [wal, pages, others] = [sum((u) => u.wal), sum((u) => u.pages), sum((u) => u.others)];
  return {
    seconds: sum((u) => u.seconds),
    cpu: cpuOf((c) => sum((u) => u.cpu[c])),
    wal,
    pages,
    busy: sum((u) => u.busy * totalOf(u.cpu)) / sum((u) => totalOf(u.cpu)),
    others,
  };
};

/** @returns what ends it and says how busy the cores were whenever they were busy */
function watchCores(): () => number {
  let [at, before] = [performance.now(), machineSeconds().busy];
  let [busy, squares] = [0, 0];
  const look = () => {
    const [now, seconds] = [performance.now(), machineSeconds().busy];
    const passed = (now - at) / 1000;
    const share = Math.min(1, (seconds - before) / passed / cpus().length);
    [at, before] = [now, seconds];
    busy += share * passed;
    squares += share ** 2 * passed;
  };
  const timer = setInterval(look, WATCH_MS).unref();
  return () => {
    clearInterval(timer);
    look();
    return busy === 0 ? 0 : squares / busy;
  };
}

/** Nothing of one that has just ended: its parent is charged with it then. */
function secondsOf(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}

const statOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');

function endedOf(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Seconds in which any core did something, waiting for disks left out; those of interrupts, which no process is charged with. */
function machineSeconds(): Record<'busy' | 'interrupts' | 'stolen', number> {
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = first.split(/ +/).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = ticks.map((n) => n / TICKS);
  return { busy: user + nice + system + irq + softirq, interrupts: irq + softirq, stolen: steal };
}
