import dns from 'node:dns';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, expect, test } from 'vitest';
import { post } from '../../activities/webhook.ts';
import { refuseUrl } from '../../domain/callbacks.ts';
import { parsePrivateHosts } from '../../domain/private-hosts.ts';
import { listening } from '../support/listening.ts';
import { SECRET } from '../support/receiver.ts';

/** What the resolver answers; the addresses are of this machine, or of none. */
const names: Record<string, string[]> = {
  'hooks.example': ['127.0.0.1'],
  'hooks.internal': ['127.0.0.1'],
  'mixed.example': ['127.0.0.1', '10.9.9.9'],
  'six.example': ['::1'],
};
// names of no network: the resolver of Node.js is replaced, for this file only
const resolver = dns.lookup;
const answer = (host: string, _options: object, callback: (error: unknown, found: object[]) => void) =>
  callback(
    null,
    (names[host.replace(/\.$/, '')] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  );
const resolveBy = (lookup: unknown) => {
  Object.assign(dns, { lookup });
  syncBuiltinESMExports();
};
let calls = 0;
const server = createServer((_request, response) => {
  calls++;
  response.writeHead(204).end();
});
const { port } = new URL(await listening(server));
resolveBy(answer);
afterAll(() => resolveBy(resolver));

/** Sends one message; the status, or why it was not sent. */
const send = (host: string, list: string): Promise<number | string> =>
  post({ url: `http://${host}:${port}/`, secret: SECRET, id: 'one', body: '{}' }, parsePrivateHosts(list)).then(
    ({ status }) => status,
    (error: Error) => error.message,
  );

const REFUSED = /leads to a private address.*DOCKET_ALLOW_PRIVATE_CALLBACKS/;

test.each([
  ['hooks.example', '127.0.0.0/8'],
  ['hooks.example', '127.0.0.1'],
  ['hooks.example', 'hooks.example'],
  ['HOOKS.example.', 'hooks.EXAMPLE'],
  ['hooks.internal', 'hooks.internal'],
  ['hooks.internal', '127.0.0.1/32'],
  ['127.0.0.1', '10.0.0.0/8, 127.0.0.0/8'],
])('S0.10 a callback to %s reaches it where %s is permitted', async (host, list) => {
  const before = calls;
  expect([await send(host, list), calls - before]).toEqual([204, 1]);
});

test.each([
  ['hooks.example', '0'],
  ['hooks.example', '10.0.0.0/8'],
  ['hooks.example', 'hooks.internal'],
  ['hooks.example', 'example'],
  ['hooks.example', 'hooks.example:1'],
  ['hooks.example', '127.0.0.1:1'],
  ['hooks.internal', '10.0.0.0/8'],
  // one of its addresses is permitted, and which one is called is not ours to say
  ['mixed.example', '127.0.0.0/8'],
  ['six.example', '127.0.0.0/8,fd00::/8'],
  ['127.0.0.1', '10.0.0.0/8'],
  ['127.0.0.1', 'hooks.example'],
  ['localhost', '127.0.0.0/8,::1'],
])('S0.10 a callback to %s is not sent where %s is permitted', async (host, list) => {
  const before = calls;
  expect(await send(host, list)).toMatch(REFUSED);
  expect(calls).toBe(before);
});

test('S0.10 a port of the list is that port only, the default one too', () => {
  const list = parsePrivateHosts('hooks.internal:443,10.0.0.1:8080,[fd00::1]:80');
  for (const url of [
    'https://hooks.internal/',
    'http://hooks.internal:443/',
    'http://10.0.0.1:8080/',
    'http://[fd00::1]',
  ])
    expect(refuseUrl(url, list), url).toBeNull();
  // names of this network are looked up, because the list has addresses
  for (const url of ['http://10.0.0.1/', 'https://10.0.0.1:8081/', 'https://[fd00::1]/', 'http://[fd00::2]/'])
    expect(refuseUrl(url, list), url).toMatch(REFUSED);
  expect(refuseUrl('http://hooks.internal/', parsePrivateHosts('hooks.internal:443'))).toMatch(REFUSED);
});

test.each([
  ...['true', 'all', '*', '*.internal', '2', '10.1', '0x7f.1', '010.0.0.1', 'a b', ',', 'x..y'],
  ...['10.1.0.0/33', '10.1/16', '10.1.2.3/16', 'fd00::1/8', '::ffff:10.0.0.0/104', 'hooks.internal/16', '1,10.0.0.0/8'],
  ...['hooks.internal:0', 'hooks.internal:70000', 'hooks.internal:', 'user@hooks.internal', 'http://hooks.internal'],
  ...['[::1', '[::1]:x', '10.0.0.0/'],
])('S0.10 a list of %s is an error, not a list that permits nothing or something else', (text) => {
  expect(() => parsePrivateHosts(text)).toThrow(/^must /);
});
