import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { eventually } from '../support/client.ts';
import { ownFolder } from '../support/own.ts';
import { lastingPort } from '../support/ports.ts';
import { SECRET } from '../support/receiver.ts';
import { startTestSystem } from '../support/system.ts';
import { runExample } from './driver.ts';
import { typescriptKit } from './kits.ts';
import { testClient } from './scenarios/all.ts';
import { send } from './scenarios/callbacks.ts';

const system = await startTestSystem();
const idle = await startTestSystem({}, { role: 'api' });
const kit = typescriptKit();
testClient(system, idle, kit);

test("S0.10 the README's example with a database: fifty of one callback at two processes are handled once", async () => {
  const env = { DATABASE_URL: system.databaseUrl, DOCKET_CALLBACK_SECRET: SECRET };
  const start = async () => {
    const port = await lastingPort();
    const program = runExample(kit, 'versions', { ...env, PORT: String(port) });
    const url = `http://127.0.0.1:${port}`;
    await eventually(async () => (await fetch(url)).status === 401);
    return { program, url };
  };
  const [first, second] = [await start(), await start()];
  const message = (version: number) => ({ type: 'ticket.decided', version, ticket: { id: 'in-sql' } });
  const sent = Array.from({ length: 50 }, (_, n) => send(n % 2 === 0 ? first.url : second.url, message(3)));
  expect(await Promise.all(sent)).toEqual(Array(50).fill(204));
  expect(await send(first.url, message(2))).toBe(204);
  expect(first.program.output() + second.program.output()).toBe('ticket.decided: in-sql\n');
  expect(await send(second.url, message(4))).toBe(204);
  expect(first.program.output() + second.program.output()).toBe('ticket.decided: in-sql\n'.repeat(2));
});

const dir = ownFolder('package');

// what `npm test` tells its children about its own project
const { npm_config_local_prefix: _, ...env } = process.env;
const run = async (command: string, args: string[], cwd = dir, more: NodeJS.ProcessEnv = {}): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd, env: { ...env, ...more } })).stdout;

const PROGRAM = `
import { Client, type HandedTicket, HttpError, receive, ReviewerLoop } from '@docket/client';
import type { paths } from '@docket/client/openapi';

const client = new Client({ servers: process.env.DOCKET_SERVERS ?? '' });
const ticket = await client.tickets.add('packaged', { body: { text: 'hello' } });
const id: string = ticket.id;
// @ts-expect-error a ticket has a body
const refused: unknown = await client.tickets.add('packaged', { priority: 1 }).catch((error: unknown) => error);
// @ts-expect-error a priority is a number
await client.tickets.reprioritize(id, '5').catch(() => {});

const loop: ReviewerLoop = new ReviewerLoop(client, {
  queue: 'packaged',
  reviewer: 'pam',
  handler(held: HandedTicket) {
    loop.stop();
    return { seen: held.id === id };
  },
});
await loop.run();

type Queues = paths['/v1/queues']['get']['responses'][200]['content']['application/json'];
const names: Queues['items'][number]['name'][] = ['packaged'];
const unsigned: string = await receive({
  headers: {},
  body: '{}',
  secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0',
  handle(callback) {
    if (callback.kind === 'case') callback.item.winner satisfies string | null;
    // @ts-expect-error only cases have a winner
    else callback.item.winner;
  },
}).catch((error: Error) => error.name);

const { state, decision } = await client.tickets.get(id);
console.log(JSON.stringify({ state, decision, refused: refused instanceof HttpError, names, unsigned }));
`;

test('S3.5 the TypeScript client, packed and installed into an empty project, has its types and works', async () => {
  const root = process.cwd();
  await run('npm', ['pack', '--workspace', 'clients/typescript', '--pack-destination', dir], root);
  const [tarball = ''] = readdirSync(dir).filter((name) => name.endsWith('.tgz'));
  const files = (await run('tar', ['-tzf', tarball])).trim().split('\n');
  for (const file of ['dist/index.js', 'dist/index.d.ts', 'dist/openapi.d.ts', 'README.md'])
    expect(files).toContain(`package/${file}`);
  expect(files.filter((file) => file.includes('src/'))).toEqual([]);

  writeFileSync(join(dir, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`]);

  const typeRoots = [join(root, 'node_modules', '@types')];
  const checked = { strict: true, skipLibCheck: false, types: ['node'], typeRoots };
  const compilerOptions = { target: 'es2022', module: 'nodenext', ...checked };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  writeFileSync(join(dir, 'use.ts'), PROGRAM);
  await run(join(root, 'clients', 'typescript', 'node_modules', '.bin', 'tsc'), []);
  const output = await run(process.execPath, ['use.js'], dir, { DOCKET_SERVERS: system.api.url });
  expect(JSON.parse(output)).toEqual({
    ...{ state: 'decided', decision: { seen: true }, refused: true, names: ['packaged'], unsigned: 'SignatureError' },
  });
  const required = `const { Client } = require('@docket/client'); console.log(typeof Client);`;
  expect(await run(process.execPath, ['--input-type=commonjs', '-e', required])).toBe('function\n');
}, 180_000);
