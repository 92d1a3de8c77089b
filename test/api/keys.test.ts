import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { startTestSystem } from '../support/system.ts';

const { api, databaseUrl } = await startTestSystem({ DOCKET_AUTH: 'keys' });
const bin = fileURLToPath(new URL('../../cli/docket.mjs', import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `docket …` as a user would, and waits for its end. */
async function docket(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const options = { env: { ...process.env, DATABASE_URL: databaseUrl, ...env }, timeout: 30_000 };
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [bin, ...args], options)) };
  } catch (error) {
    return error as unknown as Ended;
  }
}

test('docket key create, list and revoke', async () => {
  const made = await docket(['key', 'create', '--role', 'reviewer', '--subject', 'rita', '--name', 'desk-1']);
  expect(made.code).toBe(0);
  const key = /^docket_[0-9a-f]{12}_[\w-]{43}$/m.exec(made.stdout)?.[0] ?? '';
  const id = key.split('_')[1] ?? '';
  expect(made.stdout).toContain(`Its id is ${id}.`);
  const claimed = await api.as(key).post('/v1/queues/q/claim', { reviewer: 'rita' });
  expect(claimed.status).toBe(200);

  const listed = await docket(['key', 'list']);
  expect(listed.stdout).toMatch(new RegExp(`^${id}  reviewer  rita  desk-1  \\S+$`, 'm'));
  expect(listed.stdout).not.toContain(key);

  expect(await docket(['key', 'revoke', id])).toMatchObject({ code: 0, stdout: `${id} is revoked\n` });
  await eventually(async () => (await api.as(key).get('/v1/queues')).status === 401, 1_500);
  expect((await docket(['key', 'list'])).stdout).toMatch(new RegExp(`^${id} .* revoked \\S+$`, 'm'));
});

test('docket key revoke says that there is no such key', async () => {
  const ended = await docket(['key', 'revoke', '000000000000']);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no live key 000000000000') });
});

test('a server for others does not start without keys', async () => {
  const open = await docket(['api'], { HOST: '0.0.0.0', DOCKET_AUTH: 'open', PORT: '0' });
  expect(open).toMatchObject({ code: 1, stderr: expect.stringContaining('asks for keys') });
});
