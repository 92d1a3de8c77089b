import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { startTemporal, type TemporalServer } from '../../cli/servers/temporal.ts';
import { atEndOfFile } from './endings.ts';
import { lastingPort } from './ports.ts';
import { type TestStores, testStores } from './system.ts';

/** A folder of the test file's own, which goes with it. */
export function ownFolder(name: string): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), `docket-${name}-`)));
  chmodSync(dir, 0o755); // as root a database in it runs as another user
  atEndOfFile(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A Temporal server of the test file's own, which can be ended and started again on the same ports. */
export class OwnTemporal {
  readonly ports: { port: number; uiPort: number };
  readonly dir = join(ownFolder('temporal'), 'store');
  server!: TemporalServer;

  private constructor(ports: OwnTemporal['ports']) {
    this.ports = ports;
    atEndOfFile(() => this.server.stop());
  }

  static async start(): Promise<OwnTemporal> {
    const temporal = new OwnTemporal({ port: await lastingPort(), uiPort: await lastingPort() });
    await temporal.start();
    return temporal;
  }

  /** @param dir where its store is */
  async start(dir = this.dir, namespace = 'default'): Promise<void> {
    this.server = await startTemporal({ cli: inject('temporalCli'), dir, namespace, ...this.ports });
  }

  kill(): void {
    process.kill(this.server.pid, 'SIGKILL');
  }

  /** Its default namespace with a database. */
  async stores(): Promise<TestStores> {
    return { ...(await testStores()), namespace: 'default', temporalAddress: this.server.address };
  }
}
