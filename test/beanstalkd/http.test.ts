import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { readConfig } from '../../runtime/config.ts';
import { startChild } from '../support/child.ts';
import { startTubes } from './system.ts';

const { port, open, databaseUrl } = await startTubes();

const COMMANDS = 'put 0 0 60 5\r\nhello\r\n';
const request = (line: string) =>
  `${line}\r\nHost: 127.0.0.1:${port}\r\nContent-Type: text/plain\r\nContent-Length: ${COMMANDS.length}\r\n\r\n${COMMANDS}`;

/** Sends all of it, and reads what comes back until the server hangs up. */
async function sent(text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(text);
  let back = '';
  try {
    for await (const chunk of socket) back += chunk;
  } catch {
    // reset by the server
  }
  return back;
}

async function ready(): Promise<string | undefined> {
  const stats = await (await open()).ask('stats');
  return /current-jobs-ready: (\d+)/.exec(stats)?.[1];
}

test.each([
  ['POST', 'POST / HTTP/1.1'],
  ['GET', 'GET / HTTP/1.0'],
  ['an unknown method', 'use default HTTP/1.1'],
  ['a path longer than a command line', `POST /${'a'.repeat(1000)} HTTP/1.1`],
])(
  'S3.8 a web page cannot put jobs: an HTTP request (%s) is hung up on, and nothing of it is executed',
  async (_, line) => {
    expect(await sent(request(line))).toBe('');
    expect(await ready()).toBe('0');
  },
);

test('S3.8 a browser or curl that posts commands as text/plain gets no answer', async () => {
  const url = `http://127.0.0.1:${port}/`;
  const call = fetch(url, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: COMMANDS });
  await expect(call).rejects.toThrow();
  expect(await ready()).toBe('0');
});

test('S3.8 commands sent plainly are executed as before', async () => {
  expect(await (await open()).put('hello')).toMatch(/^INSERTED \d+\r\n$/);
  expect(await ready()).toBe('1');
});

test('S3.8 beyond loopback the port is opened only with BEANSTALKD_OPEN=1', async () => {
  const env = { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: '127.0.0.1:9', BEANSTALKD_PORT: '0' };
  const start = startChild('api', { ...env, BEANSTALKD_HOST: '0.0.0.0' });
  await expect(start).rejects.toThrow(/BEANSTALKD_HOST=0\.0\.0\.0: .* Set BEANSTALKD_OPEN=1/);
  const open = await startChild('api', { ...env, BEANSTALKD_HOST: '0.0.0.0', BEANSTALKD_OPEN: '1' });
  expect(open.output()).toMatch(/beanstalkd 0\.0\.0\.0:\d+/);
  expect(await open.end('SIGTERM')).toBe(0);
  expect(readConfig({ BEANSTALKD_PORT: '0', BEANSTALKD_HOST: '::1' }).beanstalkdHost).toBe('::1');
});
