import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { lastingPort } from '../../cli/servers/ports.ts';
import { type RunningServer, startPostgres } from '../../cli/servers/postgres.ts';
import { startTemporal } from '../../cli/servers/temporal.ts';
import { findTemporalCli } from '../../cli/servers/temporal-cli.ts';
import { HERE, releaseOf } from '../../test/support/releases.ts';
import type { Verdict } from './checkers/checker.ts';
import { type Disk, mountDisk } from './disk.ts';
import { Line } from './network.ts';
import { PROGRAMS, type Program, type Wire } from './plan.ts';
import { productionTemporal, type Temporal } from './temporal.ts';

const BIN = 'cli/docket.mjs';
/** Debian's package faketime. PostgreSQL and programs of Node take their time from it; their timers do not. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
/** So often a process looks at its clock's file; libfaketime counts whole seconds, so it may be one more. */
export const CLOCK_READ_SECONDS = 1;
const AGAIN_MS = 300;

interface Running {
  process: ChildProcess;
  exited: Promise<void>;
}

export interface WorldOptions {
  /** The release that the programs are of until they are updated; what is here without it. */
  from?: string;
  /** Temporal's server on PostgreSQL instead of its development server. */
  production?: boolean;
  say: (line: string) => void;
}

/** Two APIs and two workers on real servers, each on lines of its own. */
export class World {
  readonly dir: string;
  readonly lines = new Map<`${Program}:${Wire}`, Line>();
  readonly canStepClocks = existsSync(FAKETIME);
  postgres!: RunningServer;
  temporal!: Temporal;
  /** Of PostgreSQL, where this user may mount one. */
  readonly disk: Disk | undefined;
  readonly #cacheDir = process.env.DOCKET_CACHE || join(homedir(), '.cache', 'docket');
  readonly #ports = new Map<string, number>();
  readonly #running = new Map<Program, Running>();
  /** Where the code is of the programs that were not updated. */
  readonly #from: string;
  readonly #updated = new Set<Program>();
  #startTemporal: () => Promise<Temporal> = () => Promise.reject(new Error('there is no Temporal yet'));
  #over = false;

  private constructor(dir: string, o: WorldOptions) {
    this.dir = dir;
    this.disk = mountDisk(join(dir, 'disk'), join(dir, 'pg'));
    this.#from = o.from === undefined ? HERE : releaseOf(o.from, this.#cacheDir, o.say);
  }

  static async start(o: WorldOptions): Promise<World> {
    const dir = mkdtempSync(join(tmpdir(), 'docket-storm-'));
    chmodSync(dir, 0o755); // as root the database runs as another user
    const world = new World(dir, o);
    for (const name of ['postgres', 'temporal', 'temporal-ui']) world.#ports.set(name, await lastingPort());
    world.setClock('postgres', 0);
    await world.startPostgres();
    world.#startTemporal = await world.#temporalOf(o);
    await world.startTemporal();
    await world.#docket(world.#from, 'migrate');
    for (const program of PROGRAMS) await world.#wire(program);
    await Promise.all(PROGRAMS.map((program) => world.start(program)));
    return world;
  }

  async startPostgres(): Promise<void> {
    // full durability: what was acknowledged must outlive kill -9
    this.postgres = await startPostgres(join(this.dir, 'pg', 'postgres'), {
      port: this.#port('postgres'),
      settings: { max_connections: '300', max_wal_size: '256MB' },
      env: this.#clockEnv('postgres'),
    });
  }

  async startTemporal(): Promise<void> {
    this.temporal = await this.#startTemporal();
  }

  /** Brings the schema to what is here, while everything runs. */
  async migrate(): Promise<void> {
    await this.#docket(HERE, 'migrate');
  }

  /** From its next start on the program is of what is here. */
  update(program: Program): void {
    this.#updated.add(program);
  }

  /** Starts a program, again and again while what it needs cannot be reached. */
  async start(program: Program): Promise<void> {
    while (!this.#over && !(await this.#tryStart(program))) await sleep(AGAIN_MS);
  }

  /** Resolves when its process is gone. */
  async end(program: Program, signal: NodeJS.Signals): Promise<void> {
    const running = this.#running.get(program);
    running?.process.kill(signal);
    await running?.exited;
  }

  signal(program: Program, signal: NodeJS.Signals): void {
    this.#running.get(program)?.process.kill(signal);
  }

  /** @param seconds how far its clock is off */
  setClock(of: Program | 'postgres', seconds: number): void {
    writeFileSync(this.#clockOf(of), `${seconds < 0 ? '' : '+'}${seconds}`);
  }

  line(name: `${Program}:${Wire}`): Line {
    const line = this.lines.get(name);
    if (!line) throw new Error(`there is no line ${name}`);
    return line;
  }

  /** Where callers reach an API. */
  url = (program: Program): string => `http://127.0.0.1:${this.line(`${program}:http`).port}`;

  /** A connection to the database itself, on no line. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.postgres.url });
    client.on('error', () => {}); // it may be killed
    await client.connect();
    return client;
  }

  /** Processes of PostgreSQL that serve connections. */
  async backends(): Promise<number[]> {
    const children = execFileSync('pgrep', ['-P', String(this.postgres.pid), '-f', 'docket'], { encoding: 'utf8' });
    return children.split('\n').filter(Boolean).map(Number);
  }

  /** What `docket doctor` finds. @returns for each check that found something broken, a line */
  async doctor(): Promise<Verdict> {
    // it ends with 1 where something is broken
    const printed = await this.#docket(HERE, 'doctor', '--deep', '--json').catch((error) => String(error.stdout));
    const findings: { check: string; severity: string; count: number; examples: string[] }[] = JSON.parse(printed);
    const broken = findings.filter(({ severity, count }) => severity === 'broken' && count > 0);
    return { of: 1, found: broken.map(({ check, count, examples }) => `${check}: ${count}: ${examples.join('; ')}`) };
  }

  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(PROGRAMS.map((program) => this.end(program, 'SIGKILL')));
    for (const line of this.lines.values()) line.close();
    await this.temporal.stop();
    await this.postgres.stop();
    this.disk?.unmount();
    rmSync(this.dir, { recursive: true, force: true });
  }

  async #temporalOf({ production, say }: WorldOptions): Promise<() => Promise<Temporal>> {
    const [port, uiPort] = [this.#port('temporal'), this.#port('temporal-ui')];
    const where = { cacheDir: this.#cacheDir, dir: join(this.dir, 'temporal'), say };
    if (production) return productionTemporal({ ...where, port, postgres: this.postgres.url });
    const cli = await findTemporalCli({ ...where, given: process.env.TEMPORAL_CLI });
    return () => startTemporal({ cli, dir: where.dir, port, uiPort, namespace: 'default' });
  }

  /** Runs a command of a release beside the programs, on the servers themselves. @returns what it printed */
  async #docket(release: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, DATABASE_URL: this.postgres.url, TEMPORAL_ADDRESS: this.temporal.address };
    return (await promisify(execFile)(process.execPath, [join(release, BIN), ...args], { env })).stdout;
  }

  async #wire(program: Program): Promise<void> {
    const postgres = new URL(this.postgres.url).port;
    this.lines.set(`${program}:postgres`, await Line.open(Number(postgres)));
    this.lines.set(`${program}:temporal`, await Line.open(this.#port('temporal')));
    for (const wire of ['http', 'tcp'] as const) {
      const port = await lastingPort();
      this.#ports.set(`${program}:${wire}`, port);
      this.lines.set(`${program}:${wire}`, await Line.open(port));
    }
    this.setClock(program, 0);
  }

  #tryStart(program: Program): Promise<boolean> {
    const log = openSync(join(this.dir, `${program}.log`), 'a');
    const bin = join(this.#updated.has(program) ? HERE : this.#from, BIN);
    const child = spawn(process.execPath, [bin, program.replace(/-\d$/, '')], {
      env: this.#envOf(program),
      stdio: ['ignore', 'pipe', log],
    });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.#running.set(program, { process: child, exited });
    return new Promise((resolve) => {
      let text = '';
      child.stdout?.on('data', (piece) => {
        text += piece;
        if (/is ready[\s\S]*\n/.test(text)) resolve(true);
      });
      void exited.then(() => resolve(false));
    });
  }

  #envOf(program: Program): NodeJS.ProcessEnv {
    const url = new URL(this.postgres.url);
    url.port = String(this.line(`${program}:postgres`).port);
    return {
      ...process.env,
      DATABASE_URL: url.href,
      TEMPORAL_ADDRESS: `127.0.0.1:${this.line(`${program}:temporal`).port}`,
      PORT: String(this.#port(`${program}:http`)),
      BEANSTALKD_PORT: String(this.#port(`${program}:tcp`)),
      DOCKET_ALLOW_PRIVATE_CALLBACKS: '1',
      LOG_LEVEL: 'warn',
      ...this.#clockEnv(program),
    };
  }

  #clockEnv(of: Program | 'postgres'): NodeJS.ProcessEnv {
    if (!this.canStepClocks) return {};
    return {
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: this.#clockOf(of),
      // else the file is read at each look at the clock, which would take most of the time
      FAKETIME_CACHE_DURATION: String(CLOCK_READ_SECONDS),
      // SDK core waits by monotonic time, and would stand still
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  #clockOf(of: Program | 'postgres'): string {
    return join(this.dir, `${of}.clock`);
  }

  #port(name: string): number {
    return this.#ports.get(name) ?? 0;
  }
}
