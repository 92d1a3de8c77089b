import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import type { Journal } from './journal.ts';
import { type Fault, type Ill, PROGRAMS, type Program, stepOf, type Target, type Wire } from './plan.ts';
import type { Receiver } from './receivers.ts';
import type { World } from './world.ts';

const STARTS_MS = 30_000;
const AGAIN_MS = 1_000;

interface Context {
  world: World;
  receiver: Receiver;
  fault: Fault;
  /** Runs what is done to a server or program after what is done to it already: what is killed twice is started twice. */
  inTurn(name: string, work: () => Promise<void>): Promise<void>;
}

/** Makes a fault, lets it last, and undoes it. */
type Way = (context: Context) => Promise<void>;

/** @returns a queue for each name */
function turns(): Context['inTurn'] {
  const last = new Map<string, Promise<void>>();
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work);
    last.set(
      name,
      turn.catch(() => {}),
    );
    return turn;
  };
}

const isProgram = (target: Target): target is Program => /^(api|worker)-\d$/.test(target);

const kill: Way = ({ world, inTurn, fault: { target, ms } }) =>
  inTurn(target === 'backend' ? 'postgres' : target, async () => {
    if (target === 'backend') return killBackend(world);
    if (target === 'postgres') return killServer(world.postgres, ms, () => world.startPostgres());
    if (target === 'temporal') return killServer(world.temporal, ms, () => world.startTemporal());
    await world.end(target as Program, 'SIGKILL');
    await sleep(ms);
    await world.start(target as Program);
  });

async function killServer(
  { pid, ended }: { pid: number; ended: Promise<string> },
  ms: number,
  start: () => Promise<void>,
) {
  process.kill(pid, 'SIGKILL');
  await ended;
  await sleep(ms);
  // a process of it that is paused may hold its memory or its port a little longer
  await untilDone(start);
}

async function killBackend(world: World): Promise<void> {
  const pids = await world.backends();
  const pid = pids[Math.floor(pids.length / 2)];
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
  await sleep(AGAIN_MS); // until the others have been ended for it
}

const pause: Way = ({ world, inTurn, fault: { target, ms } }) =>
  inTurn(target, async () => {
    const pids = target === 'backend' ? (await world.backends()).slice(0, 4) : [];
    if (target === 'temporal') pids.push(world.temporal.pid);
    const send = (signal: NodeJS.Signals) => {
      if (isProgram(target)) world.signal(target, signal);
      for (const pid of pids) tryKill(pid, signal);
    };
    send('SIGSTOP');
    await sleep(ms);
    send('SIGCONT');
  });

/** One of them may have ended meanwhile. */
function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has
  }
}

const restart: Way = ({ world, inTurn, fault: { target, ms } }) =>
  inTurn(target, async () => {
    await world.end(target as Program, 'SIGTERM');
    await sleep(ms);
    await world.start(target as Program);
  });

/** As docs/operations.md says: the schema, then the workers, then the APIs, one after the other. */
const update: Way = async (context) => {
  const { world, fault } = context;
  await untilDone(() => world.migrate());
  for (const target of PROGRAMS.toReversed()) {
    world.update(target);
    await restart({ ...context, fault: { ...fault, target } });
  }
};

/** Servers may be away while it is tried. */
const untilDone = (work: () => Promise<unknown>) =>
  eventually(async () => {
    await work();
    return true;
  }, STARTS_MS);

const network: Way = async ({ world, fault: { what, target, ms } }) => {
  const line = world.line(target as `${Program}:${Wire}`);
  line.set(what as 'cut' | 'frozen' | 'slow' | 'deaf');
  await sleep(ms);
  line.set('open');
};

const ill: Way = async ({ receiver, fault: { what, ms } }) => {
  receiver.set(what as Ill, true);
  await sleep(ms);
  receiver.set(what as Ill, false);
};

async function beside(program: string, args: string[], ms: number): Promise<void> {
  const child = spawn(process.execPath, ['-e', program, ...args], { stdio: 'ignore' });
  await sleep(ms);
  child.kill('SIGKILL');
}

const hog: Way = ({ fault: { ms } }) => beside('for (;;);', [], ms);

/** The disk of PostgreSQL is kept busy. */
const sync: Way = ({ world, fault: { ms } }) => beside(SYNC, [join(world.dir, 'pg', 'synced')], ms);
const SYNC = `const fs = require('node:fs');
const file = fs.openSync(process.argv[1], 'w');
for (;;) {
  fs.writeSync(file, Buffer.alloc(2 ** 20, 1), 0, 2 ** 20, 0);
  fs.fsyncSync(file);
}`;

/** PostgreSQL gives up when it cannot write its log, and again when it cannot recover for want of space. */
const full: Way = ({ world, inTurn, fault: { ms } }) =>
  inTurn('postgres', async () => {
    let ended = false;
    void world.postgres.ended.then(() => (ended = true));
    world.disk?.fill();
    await sleep(ms);
    world.disk?.empty();
    await sleep(AGAIN_MS);
    if (ended) await untilDone(() => world.startPostgres());
  });

/** Its snapshot keeps every dead row. */
const transaction: Way = async ({ world, fault: { ms } }) => {
  const client = await world.connect();
  try {
    await client.query('begin isolation level repeatable read');
    await client.query('select pg_current_xact_id(), (select count(*) from item)');
    await sleep(ms);
    await client.query('rollback');
  } finally {
    await client.end().catch(() => {});
  }
};

const clock: Way = async ({ world, fault }) => {
  const of = fault.target as Program | 'postgres';
  world.setClock(of, stepOf(fault));
  await sleep(fault.ms);
  world.setClock(of, 0);
};

function wayOf({ what, target }: Fault): Way {
  if (target === 'receiver') return ill;
  const ways: Partial<Record<Fault['what'], Way>> = {
    ...{ kill, pause, restart, update, hog, sync, full, transaction, clock },
  };
  return ways[what] ?? network;
}

/**
 * Makes all faults of a plan, each when it is due.
 * @returns when the last one is undone: all programs run, all lines are open, the database answers
 */
export async function unleash(plan: Fault[], world: World, receiver: Receiver, journal: Journal): Promise<void> {
  const inTurn = turns();
  const able = plan.filter(
    ({ what }) => (what !== 'clock' || world.canStepClocks) && (what !== 'full' || world.disk !== undefined),
  );
  const all = able.map(async (fault) => {
    await sleep(Math.max(0, fault.at - journal.now()));
    const at = journal.now();
    const made = wayOf(fault)({ world, receiver, fault, inTurn });
    const failed = await made.then(
      () => ({}),
      (error: Error) => ({ failure: error.message }),
    );
    journal.fault({ ...fault, at, until: journal.now(), ...failed });
  });
  await Promise.all(all);
  // one of its processes killed at the end makes PostgreSQL recover, and it refuses connections until it has
  await untilDone(() => world.connect().then((client) => client.end()));
}
