import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own.ts';
import { startTestSystem } from '../support/system.ts';

const { api } = await startTestSystem();
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
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
  const versions = [
    `typescript@${lock['clients/typescript/node_modules/typescript'].version}`,
    `@types/node@${lock['node_modules/@types/node'].version}`,
  ];
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`, ...versions]);

  const compilerOptions = { strict: true, target: 'es2022', module: 'nodenext', types: ['node'], skipLibCheck: false };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  writeFileSync(join(dir, 'use.ts'), PROGRAM);
  await run(join(dir, 'node_modules', '.bin', 'tsc'), []);
  const output = await run(process.execPath, ['use.js'], dir, { DOCKET_SERVERS: api.url });
  expect(JSON.parse(output)).toEqual({
    ...{ state: 'decided', decision: { seen: true }, refused: true, names: ['packaged'], unsigned: 'SignatureError' },
  });
  const required = `const { Client } = require('@docket/client'); console.log(typeof Client);`;
  expect(await run(process.execPath, ['--input-type=commonjs', '-e', required])).toBe('function\n');
}, 180_000);
