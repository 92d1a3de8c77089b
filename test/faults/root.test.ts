import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { startNpm } from '../support/child.ts';
import { eventually } from '../support/client.ts';
import { processesWith } from '../support/processes.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

// mkdtemp makes it for its owner alone, like root's home
const home = mkdtempSync(join(tmpdir(), 'docket-root-'));
const checkout = join(home, 'docket');
const postgres = join(checkout, '.docket', 'postgres');
const env = { TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0', DOCKET_CACHE: inject('cacheDir') };

afterAll(() => {
  if (existsSync(postgres)) rmSync(dirname(realpathSync(postgres)), { recursive: true });
  rmSync(home, { recursive: true, force: true });
});

/** As `git clone` and `npm ci` would make it; the packages as hard links where the file system can. */
function copyCheckout() {
  execFileSync('mkdir', [checkout]);
  for (const name of readdirSync(repository).filter((n) => !n.startsWith('.') && n !== 'node_modules'))
    execFileSync('cp', ['-a', join(repository, name), checkout]);
  const packages = join(repository, 'node_modules');
  try {
    execFileSync('cp', ['-al', packages, checkout], { stdio: 'pipe' });
  } catch {
    execFileSync('cp', ['-a', packages, checkout]);
  }
}

/** Docket, and the database that it ends first. */
const ended = (data: string) =>
  eventually(async () => [data, checkout].every((path) => processesWith(path).length === 0), 30_000);

describe.skipIf(process.getuid?.() !== 0)('npm start as root in a folder that others cannot read', () => {
  test('S0.9 it starts, says where PostgreSQL keeps its data, and finds it again', async () => {
    copyCheckout();
    const first = await startNpm(env, checkout);
    const data = realpathSync(postgres);
    expect(lstatSync(postgres).isSymbolicLink()).toBe(true);
    expect(first.output()).toContain(
      `PostgreSQL: the user postgres cannot read ${dirname(postgres)}, so its data is in`,
    );
    expect(first.output()).toContain(data);
    expect((await first.api.post('/v1/queues/root/tickets', { id: 'kept', body: {} })).status).toBe(201);
    first.process.kill('SIGTERM');
    await ended(data);

    const again = await startNpm(env, checkout);
    expect(realpathSync(postgres)).toBe(data);
    expect((await again.api.get('/v1/tickets/kept')).body.state).toBe('waiting');

    // the link is in a copy of the checkout, too: it must not end the server of the first
    const copy = join(home, 'copy');
    execFileSync('mkdir', [copy]);
    execFileSync('cp', ['-a', join(checkout, '.docket'), copy]);
    rmSync(join(copy, '.docket', 'docket.pid'));
    await expect(startNpm({ ...env, DOCKET_DATA: join(copy, '.docket') }, checkout)).rejects.toThrow(/another Docket/);
    expect((await again.api.get('/v1/tickets/kept')).status).toBe(200);
    again.process.kill('SIGTERM');
    await ended(data);
  }, 180_000);

  test('S0.9 data that was made while the folder could be read goes with it', async () => {
    // what earlier starts have left, moved here
    const data = realpathSync(postgres);
    rmSync(postgres);
    execFileSync('mv', [data, join(dirname(data), 'postgres.password'), dirname(postgres)]);
    rmSync(dirname(data), { recursive: true });
    const moved = await startNpm(env, checkout);
    expect(lstatSync(postgres).isSymbolicLink()).toBe(true);
    expect((await moved.api.get('/v1/tickets/kept')).body.state).toBe('waiting');
    moved.process.kill('SIGTERM');
    await ended(realpathSync(postgres));
  }, 120_000);
});
