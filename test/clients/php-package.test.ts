import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own.ts';
import { startTestSystem } from '../support/system.ts';
import { ticket } from '../support/tickets.ts';
import { debianRepositories } from './composer.ts';

const client = fileURLToPath(new URL('../../clients/php', import.meta.url));
const debian = debianRepositories();
const system = await startTestSystem();

const home = ownFolder('composer');
const env = {
  ...{ ...process.env, COMPOSER_HOME: join(home, 'home') },
  ...{ COMPOSER_ALLOW_SUPERUSER: '1', COMPOSER_DISABLE_NETWORK: '1', COMPOSER_NO_INTERACTION: '1' },
};
/** Beside the server that it may call. */
const run = async (cwd: string, command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd, env })).stdout;
const composer = (cwd: string, ...args: string[]) => run(cwd, 'composer', ...args);

/** An empty project, whose only repositories are these and Debian's libraries. */
function project(name: string, repositories: object[]): string {
  const dir = join(home, name);
  mkdirSync(dir);
  writeFileSync(join(dir, 'composer.json'), JSON.stringify({ repositories: [...repositories, ...debian] }));
  return dir;
}

const USE = `<?php
require __DIR__ . '/vendor/autoload.php';
$client = new Docket\\Client(
    $argv[1],
    fn () => new GuzzleHttp\\Client(['timeout' => 15]),
    new GuzzleHttp\\Psr7\\HttpFactory(),
);
$client->tickets->add('packaged', ['id' => $argv[2], 'body' => null]);
$ticket = $client->tickets->claim('packaged', 'ada')->tickets[0];
echo $client->tickets->decide($ticket, 'fine')->ticket->state, ' ', Docket\\Received::Handled->value;
`;

test('S0.8 the built package is installed into an empty project, and works there', async () => {
  await composer(client, 'validate', '--strict', '--no-check-version');
  await composer(client, 'archive', '--format=tar', `--dir=${home}`, '--file=client');
  const files = (await run(home, 'tar', '-tf', 'client.tar')).trim().split('\n');
  expect(files).toEqual(expect.arrayContaining(['README.md', 'composer.json', 'src/Client.php']));
  expect(files.filter((file) => !/^(README\.md|composer\.json|src\/(\w+\.php)?)$/.test(file))).toEqual([]);
  // as a registry offers it
  const made = JSON.parse(readFileSync(join(client, 'composer.json'), 'utf8'));
  const dist = { type: 'tar', url: join(home, 'client.tar') };
  const dir = project('built', [{ type: 'package', package: { ...made, dist } }]);
  await composer(dir, 'require', 'docket/client:^0.2', 'guzzlehttp/guzzle');
  writeFileSync(join(dir, 'use.php'), USE);
  expect(await run(dir, 'php', 'use.php', system.api.url, 'built')).toBe('decided handled');
  expect((await ticket(system.api, 'built')).decision).toBe('fine');
  expect(await composer(dir, 'show', 'docket/client')).toMatch(/versions : \* 0\.2\.0/);
}, 60_000);

test('S0.8 the lines of the README install it from a checkout', async () => {
  const readme = readFileSync(join(client, 'README.md'), 'utf8');
  const lines = /```sh\n([\s\S]*?)```/.exec(readme)?.[1]?.trim() ?? '';
  expect(lines).toMatch(/composer require docket\/client/);
  const dir = project('checkout', []);
  await run(dir, 'bash', '-ec', lines.replace('../docket/clients/php', client));
  writeFileSync(join(dir, 'use.php'), USE);
  expect(await run(dir, 'php', 'use.php', system.api.url, 'checkout')).toBe('decided handled');
}, 60_000);
