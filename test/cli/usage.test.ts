import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { findTemporalCli } from '../../cli/servers/temporal-cli.ts';
import { docketHere, folder } from '../support/cli.ts';
import { listening } from '../support/listening.ts';

// Command lines that cannot be understood. Nothing is read or started for them, so none needs a server.

const WRONG: [line: string, said: RegExp][] = [
  ['strat', /^docket: unknown command 'strat'\n\(Did you mean start\?\)$/m],
  ['strat --help', /unknown command 'strat'/],
  ['help strat', /unknown command 'strat'/],
  ['dance', /^docket: unknown command 'dance'$/m],
  ['--nonsense', /^docket: unknown option '--nonsense'$/m],
  ['start --prot 3000', /^docket start: unknown option '--prot'$/m],
  ['start now', /^docket start: too many arguments/m],
  ['doctor --repare', /^docket doctor: unknown option '--repare'\n\(Did you mean --repair\?\)$/m],
  ['key', /^Usage: docket key/m],
  ['key list all', /too many arguments for 'list'/],
  ['key crate', /^docket key: unknown command 'crate'\n\(Did you mean create\?\)$/m],
  ['key create', /^docket key create: required option '--role <role>' not specified$/m],
  ['key create --role king', /'--role <role>' argument 'king' is invalid. Allowed choices are producer, reviewer,/],
  ['key create --role', /'--role <role>' argument missing/],
  ['key create --role reviewer', /a reviewer key needs --subject/],
  ['key create --role agent --roll', /unknown option '--roll'\n\(Did you mean --role\?\)/],
  ['key create --role agent --name a|b', /--name: must be 1 to 200 characters of /],
  // after the last space stands an empty one
  ['key create --role agent --name ', /--name: must be 1 to 200 characters of A-Za-z0-9\._:~@-/],
  ['key create --role agent --queues a*b', /--queues: a\*b is neither a name nor a prefix/],
  ['key create --role agent --expires tomorrow', /--expires: tomorrow is not a time like/],
  ['key revoke', /missing required argument 'id'/],
  ['export', /required option '--to <target>' not specified/],
  ['export --to hive', /argument 'hive' is invalid. Allowed choices are file, postgres, mysql, elasticsearch, kafka/],
  ['export --to file', /--to file needs --file/],
  ['export --to postgres', /--url is missing/],
  ['export --to elasticsearch --url localhost', /--url must be a URL/],
  ['export --to postgres --url postgres://x --table a;b', /--table/],
  ['export --to elasticsearch --url http://x --index ../x', /--index/],
  ['export --to kafka://x --topic a/b', /--topic a\/b is no name/],
  ['export --to mysql://x --url mysql://x', /--to has a URL: leave out --url/],
  ['export --to mysql --url postgres://me:hunter2@x', /--url must be a URL that begins with mysql:\/\//],
  ['export --to elasticsearch://x', /--url must be a URL that begins with http:\/\//],
  ['export --to file --file x --index x', /--index is not for --to file/],
  ['export --to file --file x --from here', /--from must be a URL/],
  ['export --to file --file x --indx y', /unknown option '--indx'\n\(Did you mean --index\?\)/],
  ['export --to file --file x --from http://me:hunter2@host', /--from must not have a user or a password/],
  ['outbox', /^Usage: docket outbox/m],
  ['outbox install', /missing required argument 'url'/],
  ['outbox install mysql://me:hunter2@host/db', /URL must be one that begins with postgres:\/\//],
  ['outbox follow localhost', /URL must be one that begins with postgres:\/\//],
  ['export --to postgres --url mysql://me:hunter2@host/db', /--url must be a URL that begins with postgres:\/\//],
];

test.each(WRONG)('docket %s: exit code 2, what is wrong, and where the help is', async (line, said) => {
  const { code, stdout, stderr } = await docketHere(line.split(' '));
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(said)]);
  if (!['key', 'outbox'].includes(line)) expect(stderr).toMatch(/^Run docket( \w+)* --help to see how it is used\.$/m);
  expect(stderr, 'a message, not a stack').not.toMatch(/^ {4}at |hunter2/m);
  expect(readdirSync(folder)).toEqual([]);
});

// In this process and not as a program: before it keeps things moving, the demo takes minutes.

/** Calls that may pass: fewer than all of its loops make at first. */
const PASSING = 9;

test('npm run demo -- --forever goes on while a failure may pass, and ends when its key counts no more', async () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const printed = vi.spyOn(console, 'error').mockReturnValue();
  let calls = 0;
  // conflicts, no answers, a server that is stopping, then a key that has been revoked
  const server = createServer((request, response) => {
    const status = ++calls > PASSING ? 401 : [409, 503][calls % 3];
    if (status === undefined) request.socket.destroy();
    else response.writeHead(status).end('{"detail": "as asked"}');
  });
  // never closed: loops that are under way end by its answers
  vi.stubEnv('DOCKET_URL', await listening(server, () => {}));
  const { liveOn } = await import('../../scripts/demo/life.ts');
  await expect(liveOn()).rejects.toThrow(/^DOCKET_KEY: .* answered 401 \(as asked\)/);
  const said = printed.mock.calls.flat().join('\n');
  for (const passing of ['409', 'nothing answers', '503']) expect(said).toContain(passing);
  expect(said).not.toContain('DOCKET_KEY');
}, 20_000);

afterEach(() => void vi.unstubAllEnvs());

test('S0.9 a download that was interrupted is not taken for the program', async () => {
  vi.stubEnv('PATH', '');
  const cacheDir = mkdtempSync(join(folder, 'cache-'));
  const downloads = join(cacheDir, 'download');
  mkdirSync(downloads);
  // files are listed by their names
  writeFileSync(join(downloads, 'temporal-sdk-typescript-1.0.0.downloading'), 'a part of it');
  writeFileSync(join(downloads, 'temporal-sdk-typescript-1.1.0'), 'all of it');
  const found = await findTemporalCli({ given: undefined, cacheDir, say: () => {} });
  expect(found).toBe(join(downloads, 'temporal-sdk-typescript-1.1.0'));
});
