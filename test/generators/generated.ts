import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect } from 'vitest';
import { createKey } from '../support/keys.ts';
import { startTestSystem } from '../support/system.ts';

// What a team in another language does first: it generates a client of the document, and works on a ticket with it.

/** The document that clients are generated of. */
export const DOCUMENT = resolve('docs/openapi.json');

/** A folder that is gone after the file's tests. */
export function folder(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `docket-generated-${name}-`));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/**
 * Runs a program while the server, which is in this process, goes on answering.
 * @param says is given what it said on standard error
 * @returns what it printed
 * @throws Error with all that it printed when it fails
 */
export async function run(
  command: string,
  args: string[],
  cwd: string,
  says: (text: string) => void = () => {},
): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
    says(stderr);
    return stdout;
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error([message.split('\n')[0], stdout.slice(-20_000), stderr.slice(-20_000)].join('\n'));
  }
}

/**
 * Has a program add, claim and decide a ticket, and looks at what the server has of it. The program is given the server's
 * address and a key; it prints the ticket's id, and the code of the problem when it decides with a token that isn't live.
 */
export async function expectDecided(program: (url: string, key: string) => Promise<string>): Promise<void> {
  const { api, running } = await startTestSystem({ DOCKET_AUTH: 'keys' });
  const { key } = await createKey(running.runtime.db, { name: 'generated', role: 'admin', subject: null });
  const { id, refused } = JSON.parse(await program(api.url, key));
  expect(refused).toBe('lease_lost');
  expect((await api.as(key).get(`/v1/tickets/${id}`)).body).toMatchObject({
    queue: 'reports',
    state: 'decided',
    priority: 3,
    requires: ['en'],
    body: { text: 'Followers for sale' },
    decidedBy: 'anna',
    decision: { verdict: 'remove' },
  });
}
