import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { docket, docketHere, expectFailure, folder, ROOT, run } from '../support/cli.ts';
import { listening } from '../support/listening.ts';

// a program for each call, and machines that are shared stall for seconds
vi.setConfig({ testTimeout: 200_000 });

/** A value that each setting does not take, and what the message says of it. */
const WRONG: Record<string, [value: string, said: string]> = {
  PORT: ['abc', 'must be a whole number from 0 to 65535, not "abc"'],
  BEANSTALKD_PORT: ['70000', 'must be a whole number from 0 to 65535, not "70000"'],
  BEANSTALKD_OPEN: ['yes', 'must be 0 or 1, not "yes"'],
  DOCKET_PUBLIC_URL: ['docket.example.com:3000', 'must be a URL that begins with http:// or https://'],
  DATABASE_URL: [
    'postgres://me:hunter2/x@db/docket',
    'must be a URL such as postgres://user:password@host:5432/database',
  ],
  TEMPORAL_ADDRESS: ['http://temporal:7233', 'must be host:port, without a scheme, not "http://temporal:7233"'],
  TEMPORAL_PORT: ['1.5', 'must be a whole number from 0 to 65535, not "1.5"'],
  TEMPORAL_UI_PORT: ['-1', 'must be a whole number from 0 to 65535, not "-1"'],
  TEMPORAL_UI_URL: ['localhost:8080', 'must be a URL that begins with http:// or https://'],
  DOCKET_ALLOW_PRIVATE_CALLBACKS: ['true', 'must be 0, 1, or hosts, host:port and networks, separated by commas'],
  DOCKET_AUTH: ['none', 'must be open or keys, not "none"'],
  DOCKET_PACEMAKER: ['1', 'must be on or off, not "1"'],
  DOCKET_AUDIT_SKEW_SECONDS: ['1d', 'must be a number from 0 to 86400, not "1d"'],
  DOCKET_MAX_ROTATIONS: ['many', 'must be a whole number from 0 to 1000000, not "many"'],
  DOCKET_RETENTION_DAYS: ['0', 'must be a number from 1 to 36500, or days by kind or queue, separated by commas'],
  DOCKET_FULL_TEXT: ['1', 'must be on or off, not "1"'],
  DOCKET_IMAGE_HOSTS: ['images.example.com/path', 'must be hosts, separated by commas'],
  DOCKET_POOL: ['2', 'must be a whole number from 4 to 200, not "2"'],
  LOG_LEVEL: ['loud', 'must be fatal or error or warn or info or debug or silent, not "loud"'],
};

test('DATABASE_URL with a target_session_attrs that Docket cannot work on', async () => {
  const ended = await docketHere(['migrate'], {
    DATABASE_URL: 'postgres://db/docket?target_session_attrs=prefer-standby',
  });
  expectFailure(ended, 'DATABASE_URL has a target_session_attrs that is not any, read-write or primary');
});

test.each(['start', 'api', 'worker', 'migrate', 'key list'])(
  'docket %s names each wrong setting in a line of its own, before anything is started',
  async (line) => {
    const env = Object.fromEntries(Object.entries(WRONG).map(([name, [value]]) => [name, value]));
    const ended = await docketHere(line.split(' '), { ...env, DOCKET_DATA: 'never-made' });
    expectFailure(ended);
    const lines = ended.stderr.trimEnd().split('\n');
    expect(lines).toEqual(
      Object.entries(WRONG).map(([name, [, said]], n) =>
        expect.stringContaining(`${n === 0 ? `docket ${line}: ` : ''}${name} ${said}`),
      ),
    );
  },
);

// side by side: half of them wait, for a host or for a server to come
describe.concurrent('values that cannot be meant', () => {
  test('settings that do not go together', async () => {
    const [open, beanstalkd] = await Promise.all([
      docket(['api'], { HOST: '0.0.0.0', DOCKET_AUTH: 'open' }),
      docket(['api'], { BEANSTALKD_PORT: '0', BEANSTALKD_HOST: '0.0.0.0' }),
    ]);
    expectFailure(open, /DOCKET_AUTH=open is for 127\.0\.0\.1 only.*HOST=0\.0\.0\.0.*asks for keys/);
    expectFailure(beanstalkd, /BEANSTALKD_HOST=0\.0\.0\.0: .*no authentication.*BEANSTALKD_OPEN=1/);
  });

  test.each(['api', 'migrate'])('docket %s without DATABASE_URL says that it needs it', async (name) => {
    expectFailure(await docket([name]), `docket ${name}: DATABASE_URL is not set; set it to postgres://`);
  });

  test.each(['key list', 'reconcile'])('docket %s without a database says where it looked for one', async (line) => {
    const data = join(folder, 'nobody-ran-here');
    const ended = await docket(line.split(' '), { DOCKET_DATA: data });
    expectFailure(ended, `DATABASE_URL is not set, and no Docket has run on ${data}; set DATABASE_URL`, 'DOCKET_DATA');
  });
});

describe.concurrent('what cannot be used', () => {
  const aFile = join(folder, 'a-file');
  writeFileSync(aFile, '');
  /** On a database that is not there: all of this is found before it is asked. */
  const atStart = (command: string, env: Record<string, string>) =>
    docket([command], {
      ...{ DATABASE_URL: 'postgres://127.0.0.1:1/x', DOCKET_DATA: mkdtempSync(join(folder, 'data-')) },
      ...{ PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0', ...env },
    });
  const start = (env: Record<string, string>) => atStart('start', env);

  test('DOCKET_DATA that cannot be written to', async () => {
    const data = join(aFile, 'data');
    expectFailure(
      await start({ DOCKET_DATA: data }),
      `docket start: DOCKET_DATA: cannot write to ${data} (a part of the path is not a folder); set DOCKET_DATA to`,
    );
    expectFailure(await start({ DOCKET_DATA: aFile }), `DOCKET_DATA: cannot write to ${aFile} (`);
  });

  test.skipIf(process.getuid?.() === 0)('DOCKET_DATA of another user, where root could write', async () => {
    const data = join(folder, 'read-only');
    mkdirSync(data, { mode: 0o500 });
    expectFailure(await start({ DOCKET_DATA: data }), /DOCKET_DATA: .*\(permission denied\)/);
  });

  test('DOCKET_CACHE that cannot be written to, where something has to be kept there', async () => {
    const empty = join(folder, 'no-programs');
    mkdirSync(empty);
    const cache = join(aFile, 'cache');
    expectFailure(await start({ DOCKET_CACHE: cache, PATH: empty }), `DOCKET_CACHE: cannot write to ${cache} (`);
  });

  test('TEMPORAL_CLI that is no program', async () => {
    const missing = join(folder, 'missing');
    for (const [cli, said] of [
      [missing, `cannot run ${missing} (no such file or folder); set it to`],
      [aFile, `cannot run ${aFile} (permission denied); set it to`],
      [folder, `${folder} is not a program`],
    ] as const)
      expectFailure(await start({ TEMPORAL_CLI: cli }), `TEMPORAL_CLI: ${said}`);
  });

  test.each([
    ['start', 'PORT', 'another, or to 0'],
    ['api', 'PORT', 'another'],
    ['start', 'BEANSTALKD_PORT', 'another'],
    ['start', 'TEMPORAL_UI_PORT', 'another, or to 0 for any free one'],
  ])('docket %s with a %s that is taken, before any server is started', async (command, name, what) => {
    const { port } = new URL(await listening(createServer()));
    const ended = await atStart(command, { [name]: port });
    expectFailure(ended, `docket ${command}: ${name}: port ${port} is taken; set ${name} to ${what}`);
    expect(ended.stdout).toBe(command === 'start' ? 'Docket is starting …\n' : '');
  });

  test('HOST and BEANSTALKD_HOST that are no address of this machine', async () => {
    expectFailure(
      await start({ HOST: 'no.such.host.invalid' }),
      /HOST: nothing can listen on no\.such\.host\.invalid \(.*; set HOST to an address of this machine/,
    );
    const beanstalkd = { BEANSTALKD_PORT: '0', BEANSTALKD_HOST: '192.0.2.1', BEANSTALKD_OPEN: '1' };
    expectFailure(
      await start(beanstalkd),
      'BEANSTALKD_HOST: nothing can listen on 192.0.2.1 (not an address of this machine); set BEANSTALKD_HOST',
    );
  });

  test('a file or a server of docket export', async () => {
    const file = join(folder, 'no', 'such', 'folder', 'events.ndjson');
    const to = (...options: string[]) => docket(['export', '--from', 'http://127.0.0.1:1', '--to', ...options]);
    const away = 'cannot be reached (connection refused); start';
    const [toFile, toPostgres, toElasticsearch, toMysql, from] = await Promise.all([
      to('file', '--file', file),
      to('postgres', '--url', 'postgres://me:hunter2@127.0.0.1:1/events'),
      to('elasticsearch', '--url', 'http://me:hunter2@127.0.0.1:65000'),
      to('mysql://me:hunter2@127.0.0.1:65000/events'),
      docket(['export', '--to', 'file', '--file', 'events.ndjson'], { PORT: '65000' }),
    ]);
    expectFailure(toFile, `docket export: --file: cannot write to ${file} (no such file or folder); name another`);
    expectFailure(
      toPostgres,
      /--url: cannot reach PostgreSQL at 127\.0\.0\.1:1 \(connection refused\); start it, or correct --url \(after 8 tries\)/,
    );
    expectFailure(toElasticsearch, `--url: http://127.0.0.1:65000 ${away} it`);
    expectFailure(toMysql, `--url: MySQL at 127.0.0.1:65000 ${away} it`);
    expectFailure(from, `PORT: http://127.0.0.1:65000 ${away} Docket there`);
  }, 90_000);

  test('npm run demo without a server', async () => {
    const demo = (env: Record<string, string>) => run(['npm', 'run', '--silent', 'demo'], env, ROOT);
    const [port, wrong] = await Promise.all([demo({ PORT: '65000' }), demo({ DOCKET_URL: '127.0.0.1:65000' })]);
    expectFailure(port, /^PORT: nothing answers at http:\/\/127\.0\.0\.1:65000 \(ECONNREFUSED\); start Docket/m);
    expectFailure(wrong, /^DOCKET_URL: 127\.0\.0\.1:65000 is no URL that begins with http:\/\//m);
  });
});
