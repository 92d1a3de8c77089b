import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lastingPort } from '../../cli/servers/ports.ts';
import { type RunningServer, startPostgres } from '../../cli/servers/postgres.ts';
import { startTemporal, type TemporalServer } from '../../cli/servers/temporal.ts';
import { findTemporalCli } from '../../cli/servers/temporal-cli.ts';
import { migrate } from '../../db/migrate.ts';
import type { Verdict } from './checkers/checker.ts';
import { Line } from './network.ts';
import { PROGRAMS, type Program, type Wire } from './plan.ts';

const BIN = fileURLToPath(new URL('../../cli/docket.mjs', import.meta.url));
/** Debian's package faketime. Programs of Node take their time from it; their timers do not. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const AGAIN_MS = 300;

interface Running {
  process: ChildProcess;
  exited: Promise<void>;
}

/** Two APIs and two workers on real servers, each on lines of its own. */
export class World {
  readonly dir: string;
  readonly lines = new Map<`${Program}:${Wire}`, Line>();
  readonly canStepClocks = existsSync(FAKETIME);
  postgres!: RunningServer;
  temporal!: TemporalServer;
  readonly #ports = new Map<string, number>();
  readonly #running = new Map<Program, Running>();
  #cli = '';
  #over = false;

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async start(say: (line: string) => void): Promise<World> {
    const dir = mkdtempSync(join(tmpdir(), 'docket-storm-'));
    chmodSync(dir, 0o755); // as root the database runs as another user
    mkdirSync(join(dir, 'pg'));
    const world = new World(dir);
    const cacheDir = process.env.DOCKET_CACHE || join(homedir(), '.cache', 'docket');
    world.#cli = await findTemporalCli({ given: process.env.TEMPORAL_CLI, cacheDir, say });
    for (const name of ['postgres', 'temporal', 'temporal-ui']) world.#ports.set(name, await lastingPort());
    await Promise.all([world.startPostgres(), world.startTemporal()]);
    await migrate(world.postgres.url);
    for (const program of PROGRAMS) await world.#wire(program);
    await Promise.all(PROGRAMS.map((program) => world.start(program)));
    return world;
  }

  async startPostgres(): Promise<void> {
    // full durability: what was acknowledged must outlive kill -9
    this.postgres = await startPostgres(join(this.dir, 'pg', 'postgres'), { port: this.#port('postgres') });
  }

  async startTemporal(): Promise<void> {
    const [port, uiPort] = [this.#port('temporal'), this.#port('temporal-ui')];
    const dir = join(this.dir, 'temporal');
    this.temporal = await startTemporal({ cli: this.#cli, dir, port, uiPort, namespace: 'default' });
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
  setClock(program: Program, seconds: number): void {
    writeFileSync(this.#clockOf(program), `${seconds < 0 ? '' : '+'}${seconds}`);
  }

  line(name: `${Program}:${Wire}`): Line {
    const line = this.lines.get(name);
    if (!line) throw new Error(`there is no line ${name}`);
    return line;
  }

  /** Where callers reach an API. */
  url = (program: Program): string => `http://127.0.0.1:${this.line(`${program}:http`).port}`;

  /** Processes of PostgreSQL that serve connections. */
  async backends(): Promise<number[]> {
    const children = execFileSync('pgrep', ['-P', String(this.postgres.pid), '-f', 'docket'], { encoding: 'utf8' });
    return children.split('\n').filter(Boolean).map(Number);
  }

  /** What `docket doctor` finds. @returns for each check that found something broken, a line */
  async doctor(): Promise<Verdict> {
    const env = { ...process.env, DATABASE_URL: this.postgres.url, TEMPORAL_ADDRESS: this.temporal.address };
    const done = await promisify(execFile)(process.execPath, [BIN, 'doctor', '--deep', '--json'], { env }).catch(
      // it ends with 1 where something is broken
      (error: { stdout: string }) => error,
    );
    const findings: { check: string; severity: string; count: number; examples: string[] }[] = JSON.parse(done.stdout);
    const broken = findings.filter(({ severity, count }) => severity === 'broken' && count > 0);
    return { of: 1, found: broken.map(({ check, count, examples }) => `${check}: ${count}: ${examples.join('; ')}`) };
  }

  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(PROGRAMS.map((program) => this.end(program, 'SIGKILL')));
    for (const line of this.lines.values()) line.close();
    await Promise.all([this.temporal.stop(), this.postgres.stop()]);
    rmSync(this.dir, { recursive: true, force: true });
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

  async #tryStart(program: Program): Promise<boolean> {
    const log = openSync(join(this.dir, `${program}.log`), 'a');
    const child = spawn(process.execPath, [BIN, program.replace(/-\d$/, '')], {
      env: this.#envOf(program),
      stdio: ['ignore', 'pipe', log],
    });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.#running.set(program, { process: child, exited });
    const ready = new Promise<boolean>((resolve) => {
      let text = '';
      child.stdout?.on('data', (piece) => {
        text += piece;
        if (/is ready[\s\S]*\n/.test(text)) resolve(true);
      });
      void exited.then(() => resolve(false));
    });
    return ready;
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
      ...(this.canStepClocks && {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: this.#clockOf(program),
        FAKETIME_NO_CACHE: '1',
        // SDK core waits by monotonic time, and would stand still
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }),
    };
  }

  #clockOf(program: Program): string {
    return join(this.dir, `${program}.clock`);
  }

  #port(name: string): number {
    return this.#ports.get(name) ?? 0;
  }
}
