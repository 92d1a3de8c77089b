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
  readonly namespace: string;
  readonly dir = join(ownFolder('temporal'), 'store');
  server!: TemporalServer;

  private constructor(ports: OwnTemporal['ports'], namespace: string) {
    this.ports = ports;
    this.namespace = namespace;
    atEndOfFile(() => this.server.stop());
  }

  static async start(namespace = 'default'): Promise<OwnTemporal> {
    const ports = { port: await lastingPort(), uiPort: await lastingPort() };
    const temporal = new OwnTemporal(ports, namespace);
    await temporal.start();
    return temporal;
  }

  /** @param dir where its store is */
  async start(dir = this.dir, namespace = this.namespace): Promise<void> {
    this.server = await startTemporal({ cli: inject('temporalCli'), dir, namespace, ...this.ports });
  }

  kill(): void {
    process.kill(this.server.pid, 'SIGKILL');
  }

  /** Its namespace with a database. */
  async stores(): Promise<TestStores> {
    return { ...(await testStores()), namespace: this.namespace, temporalAddress: this.server.address };
  }
}
