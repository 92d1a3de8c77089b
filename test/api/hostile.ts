import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { repeat } from '../support/client.ts';

/** A body with headers of its own; without any it is said to be JSON. */
interface Hostile {
  body: string | Buffer;
  headers?: Record<string, string>;
}

const json = (body: string | Buffer): Hostile => ({ body });
const typed = (type: string, body = '{"id": "typed"}'): Hostile => ({ body, headers: { 'content-type': type } });
const packed = (encoding: string, body: Buffer): Hostile => ({
  body,
  headers: { 'content-type': 'application/json', 'content-encoding': encoding },
});
const bytes = (latin1: string) => Buffer.from(latin1, 'latin1');

const BOMB = Buffer.alloc(20 * 1024 * 1024, ' ');

/** Bodies that were made to do harm, whole and framed as they should be; each is below the limit of a small body. */
export const BODIES: Record<string, Hostile> = {
  'arrays 120,000 deep': json('['.repeat(120_000) + ']'.repeat(120_000)),
  'arrays 250,000 deep that never end': json('['.repeat(250_000)),
  'objects 40,000 deep': json(`${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`),
  'a field 60,000 deep': json(`{"body": ${'['.repeat(60_000)}${']'.repeat(60_000)}}`),
  'a number of 200,000 digits': json(`{"body": ${'9'.repeat(200_000)}}`),
  'a fraction of 200,000 digits': json(`{"priority": 0.${'3'.repeat(200_000)}}`),
  'numbers at the ends of their range': json(
    '{"body": [1e308, -1e308, 5e-324, 1e-400, -0, 9007199254740991], "priority": 1e309, "delaySeconds": -1e309}',
  ),
  'halves of surrogate pairs': json('{"id": "\\ud800", "\\udfff": "\\ud83d\\ud83d", "body": ["\\udc00"]}'),
  'NUL in names and values': json('{"id": "a\\u0000", "\\u0000": 1, "body": {"\\u0000": "\\u0000"}}'),
  'a NUL byte': json('{"id": "a\0b"}'),
  'names of an object’s own parts': json(
    '{"body": {"constructor": {"prototype": {"polluted": true}}, "toString": 1, "hasOwnProperty": null, "__proto__": 1}}',
  ),
  'an id whose text cannot be made': json('{"command": "add", "jobs": [{"id": {"toString": 1}}]}'),
  'a prototype at the top': json('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}'),
  'a prototype in escapes': json(
    '{"\\u005f_proto__": {"polluted": true}, "body": {"__\\u0070roto__": {"polluted": 1}}}',
  ),
  'a prototype in a list': json('{"tickets": [{"__proto__": {"polluted": true}}], "jobs": [{"__proto__": null}]}'),
  'one name twice': json('{"id": "first", "id": "second", "body": 1, "body": {"a": 1, "a": 2}}'),
  'one name 30,000 times': json(`{${'"a":1,'.repeat(30_000)}"a":1}`),
  '20,000 names': json(`{${repeat(20_000, (n) => `"n${n}":1`).join(',')}}`),
  'names like indexes': json(`{"body": {${repeat(9_000, (n) => `"${n * 477_000}":1`).join(',')}}}`),
  'escapes all through': json(`{"body": "${'\\u0041'.repeat(40_000)}"}`),
  'odd characters': json('{"id": "\u2028\u202e\ufeff\ufffe", "body": "\u{10ffff}\u0085"}'),
  'bytes that are no UTF-8': json(bytes('{"id": "\xc0\xaf\xff", "body": "\xf5\x80\x80\x80"}')),
  'a surrogate in UTF-8': json(bytes('{"id": "\xed\xa0\x80"}')),
  'UTF-16': json(Buffer.from('{"id": "sixteen"}', 'utf16le')),
  'a byte order mark': json(bytes('\xef\xbb\xbf{"id": "mark"}')),
  'random bytes': json(Buffer.from(repeat(5_000, (n) => (n * n * 31 + n * 7) & 255))),
  'a form': typed('application/x-www-form-urlencoded', 'id=1&__proto__[polluted]=1'),
  'parts without an end': typed(
    'multipart/form-data; boundary=x',
    '--x\r\ncontent-disposition: form-data; name="id"\r\n',
  ),
  XML: typed('text/xml', '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'),
  'another character set': typed('application/json; charset=utf-7', '{"id": "+ADw-"}'),
  'a type of 7,000 characters': typed(`application/json; ${'a=b;'.repeat(1_750)}`),
  gzip: packed('gzip', gzipSync('{"id": "packed"}')),
  'a gzip bomb': packed('gzip', gzipSync(BOMB)),
  'a deflate bomb': packed('deflate', deflateSync(BOMB)),
  'a brotli bomb': packed('br', brotliCompressSync(BOMB)),
  'a gzip bomb within another': packed('gzip, gzip', gzipSync(gzipSync(BOMB))),
  'an encoding that is none': packed('x'.repeat(500), Buffer.from('{"id": "packed"}')),
};

const call = (...headers: string[]) =>
  `POST ${'{path}'} HTTP/1.1\r\nhost: localhost\r\n${headers.join('\r\n')}\r\n\r\n`;
const JSON_TYPE = 'content-type: application/json';
const CHUNKED = 'transfer-encoding: chunked';
const VALID = '{"id": "framed"}';

/** Calls whose framing lies or breaks off; `{path}` stands for where they go. */
export const FRAMES: Record<string, string> = {
  'a length that is too long': `${call(JSON_TYPE, 'content-length: 100')}${VALID}`,
  'a length that is too short': `${call(JSON_TYPE, 'content-length: 5')}${VALID}`,
  'a length over every limit': `${call(JSON_TYPE, 'content-length: 99999999999999999999')}${VALID}`,
  'a length below zero': `${call(JSON_TYPE, 'content-length: -1')}${VALID}`,
  'a length in hexadecimal': `${call(JSON_TYPE, 'content-length: 0x10')}${VALID}`,
  'a length with a sign': `${call(JSON_TYPE, 'content-length: +16')}${VALID}`,
  'two lengths': `${call(JSON_TYPE, 'content-length: 16', 'content-length: 5')}${VALID}`,
  'two lengths in one': `${call(JSON_TYPE, 'content-length: 16, 5')}${VALID}`,
  'a length and chunks': `${call(JSON_TYPE, 'content-length: 16', CHUNKED)}10\r\n${VALID}\r\n0\r\n\r\n`,
  'chunks twice': `${call(JSON_TYPE, 'transfer-encoding: chunked, chunked')}10\r\n${VALID}\r\n0\r\n\r\n`,
  'an encoding after chunks': `${call(JSON_TYPE, 'transfer-encoding: chunked, gzip')}10\r\n${VALID}\r\n0\r\n\r\n`,
  'a chunk that is cut off': `${call(JSON_TYPE, CHUNKED)}10\r\n{"id"`,
  'chunks without a last one': `${call(JSON_TYPE, CHUNKED)}10\r\n${VALID}\r\n`,
  'a chunk longer than it says': `${call(JSON_TYPE, CHUNKED)}5\r\n${VALID}\r\n0\r\n\r\n`,
  'a chunk of no size': `${call(JSON_TYPE, CHUNKED)}zz\r\n${VALID}\r\n0\r\n\r\n`,
  'a chunk of 2^72 bytes': `${call(JSON_TYPE, CHUNKED)}fffffffffffffffffff\r\n${VALID}`,
  'a chunk with a long extension': `${call(JSON_TYPE, CHUNKED)}10;${'x'.repeat(100_000)}\r\n${VALID}\r\n0\r\n\r\n`,
  'many chunks of one byte': `${call(JSON_TYPE, CHUNKED)}${'1\r\n[\r\n'.repeat(20_000)}0\r\n\r\n`,
  trailers: `${call(JSON_TYPE, CHUNKED)}10\r\n${VALID}\r\n0\r\n${'x-trailer: 1\r\n'.repeat(3_000)}\r\n`,
  'a body that was announced and never sent': call(JSON_TYPE, 'content-length: 16', 'expect: 100-continue'),
  'an expectation that is none': `${call(JSON_TYPE, 'content-length: 16', 'expect: miracles')}${VALID}`,
  'a header of 100 KB': call(JSON_TYPE, `x-long: ${'x'.repeat(100_000)}`),
  '3,000 headers': call(JSON_TYPE, ...repeat(3_000, (n) => `x-${n}: 1`)),
  'a folded header': call(JSON_TYPE, 'x-folded: a\r\n b', 'content-length: 0'),
  'NUL in a header': call(JSON_TYPE, 'x-nul: a\0b', 'content-length: 0'),
  'a line feed alone': call(JSON_TYPE, 'content-length: 0').replaceAll('\r\n', '\n'),
  'no host': `POST {path} HTTP/1.1\r\n${JSON_TYPE}\r\ncontent-length: 0\r\n\r\n`,
  'HTTP/0.9': 'GET {path}\r\n\r\n',
  'HTTP/9.9': 'GET {path} HTTP/9.9\r\nhost: localhost\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  'a greeting of TLS': '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'.padEnd(300, '\x7f'),
  'a URL of another host': 'GET http://169.254.169.254/latest HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'a tunnel': 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'an upgrade': 'GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  'a method that is none': 'MAKE {path} HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'a path of 60,000 characters': `GET /${'a'.repeat(60_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  'a path of 6,000 dots': `GET ${'/..'.repeat(2_000)}/etc/passwd HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  'a path that is not UTF-8': 'GET /v1/tickets/%ff%fe HTTP/1.1\r\nhost: localhost\r\n\r\n',
};

/** For what is never answered, because the server waits for more. */
const UNANSWERED_MS = 60;

/**
 * Sends bytes over a connection of its own and ends it: when something was answered, or after a while. Node.js drops what it
 * was about to answer when the client ends first.
 * @param end `reset` does not wait for anything
 * @returns the statuses that came back, in order
 */
export function statusesOf(url: string, sent: string, end: 'half' | 'reset' = 'half'): Promise<number[]> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let text = '';
    let giveUp: NodeJS.Timeout | undefined;
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      socket.end();
    });
    // a server that has heard enough resets the connection
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(giveUp);
      resolve([...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((m) => Number(m[1])));
    });
    socket.on('connect', () => {
      socket.write(Buffer.from(sent, 'latin1'), () => {
        if (end === 'reset') socket.resetAndDestroy();
        else giveUp = setTimeout(() => socket.end(), UNANSWERED_MS);
      });
    });
  });
}
