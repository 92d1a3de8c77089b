import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../cli/servers/postgres.ts';
import { migrate } from '../db/migrate.ts';

/** Runs `look` on an empty database that was migrated, on a server of its own. */
export async function onFreshDatabase<T>(look: (client: pg.Client) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'docket-fresh-'));
  chmodSync(dir, 0o755); // as root the database runs as another user
  mkdirSync(join(dir, 'pg'));
  const server = await startPostgres(join(dir, 'pg', 'postgres'), { settings: { fsync: 'off' } });
  const client = new pg.Client({ connectionString: server.url });
  try {
    await migrate(server.url);
    await client.connect();
    return await look(client);
  } finally {
    await client.end();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
