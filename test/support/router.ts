import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { startPostgres } from '../../cli/servers/postgres.ts';
import { migrate } from '../../db/migrate.ts';
import { type DocketChild, startChild } from './child.ts';
import { eventually } from './client.ts';
import { startTestSystem, type TestSystem, testStores } from './system.ts';

/** Two Dockets on two PostgreSQL servers, a Temporal namespace each. */
export async function twoDockets(env: Record<string, string> = {}): Promise<{ a: TestSystem; b: TestSystem }> {
  const dir = mkdtempSync(join(tmpdir(), 'docket-second-'));
  chmodSync(dir, 0o755); // as root the database runs as another user
  const second = await startPostgres(join(dir, 'postgres'), { settings: { fsync: 'off' } });
  await migrate(second.url);
  const a = await startTestSystem(env);
  const { namespace, temporalAddress } = await testStores({ records: false });
  const b = await startTestSystem(env, { stores: { databaseUrl: second.url, namespace, temporalAddress } });
  afterAll(async () => {
    await b.stop();
    await second.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return { a, b };
}

/** `docket router` as a process of its own, with its file. */
export class RouterChild {
  readonly #file = join(mkdtempSync(join(tmpdir(), 'docket-router-')), 'places.json');
  readonly #env: Record<string, string>;
  child!: DocketChild;

  private constructor(env: Record<string, string>) {
    this.#env = env;
  }

  static async start(places: object, env: Record<string, string> = {}): Promise<RouterChild> {
    const router = new RouterChild(env);
    router.write(places);
    await router.restart();
    return router;
  }

  get api() {
    return this.child.api;
  }

  write(places: object): void {
    writeFileSync(this.#file, JSON.stringify(places));
  }

  /** Has it read another file, and waits until it has. */
  async take(places: object): Promise<void> {
    const before = this.child.output().length;
    this.write(places);
    this.child.process.kill('SIGHUP');
    await eventually(async () => this.child.output().slice(before).includes('has read'));
  }

  /** A new process with the file as it is. */
  async restart(): Promise<void> {
    await this.child?.end('SIGKILL');
    this.child = await startChild(['router', this.#file], this.#env);
  }
}
