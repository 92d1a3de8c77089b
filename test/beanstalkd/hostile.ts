import { isHttp, parse } from '../../api/beanstalkd/protocol.ts';
import { repeat } from '../support/client.ts';
import type { Random } from './random.ts';

const WORDS = [
  ...['put', 'peek', 'peek-ready', 'peek-delayed', 'peek-buried', 'reserve', 'reserve-with-timeout', 'reserve-job'],
  ...['delete', 'release', 'bury', 'kick', 'kick-job', 'touch', 'stats', 'stats-job', 'stats-tube', 'use', 'watch'],
  ...['ignore', 'list-tubes', 'list-tube-used', 'list-tubes-watched', 'pause-tube', 'quit', '', 'nothing'],
];
const NUMBERS = [
  ...['0', '1', '-1', '+1', '01', '1.5', '1e3', '0x10', '4294967295', '4294967296', '18446744073709551615'],
  ...['18446744073709551616', '9007199254740993', `1${'0'.repeat(100)}`, 'x', '', ' ', '-', '2147483648'],
];
const TUBES = [
  'default',
  'a',
  '-a',
  'a b',
  'ü',
  'a\0',
  '__proto__',
  'constructor',
  '$',
  't'.repeat(200),
  't'.repeat(201),
];
const SEPARATORS = [' ', ' ', ' ', ' ', '  ', '\t', '', '\r', '\n', '\0', '\x0b'];

/** A line that looks like a command and mostly is none: without its CRLF, one byte for each character. */
export function oddLine(r: Random): string {
  if (r.int(12) === 0) return noise(r, r.int(60));
  const parts = [r.of(WORDS)];
  // half of them nearly right: what no parser takes is refused at its first byte, and tries nothing behind it
  const isNear = r.int(2) === 0;
  for (let n = r.int(6); n > 0; n--)
    parts.push(isNear && r.int(4) > 0 ? r.of(['0', '1', '7']) : r.int(3) === 0 ? r.of(TUBES) : r.of(NUMBERS));
  const line = parts.reduce((all, part) => all + (isNear ? ' ' : r.of(SEPARATORS)) + part);
  return r.int(4) === 0 ? changed(r, line) : line;
}

const noise = (r: Random, length: number) => repeat(length, () => String.fromCharCode(r.int(256))).join('');

/** The same with a byte dropped, doubled or replaced. */
function changed(r: Random, line: string): string {
  const at = r.int(line.length + 1);
  const put = r.of(['', String.fromCharCode(r.int(256)), line.slice(at, at + 1).repeat(2)]);
  return line.slice(0, at) + put + line.slice(at + 1);
}

/** What a client sends that means no good: lines, bodies that are not as long as they say, noise. */
export function oddBytes(r: Random): string {
  const pieces = repeat(5 + r.int(30), () =>
    r.weighted<() => string>([
      [10, () => `${oddLine(r)}\r\n`],
      [2, () => `${oddLine(r)}${r.of(['\n', '\r', '', '\r\r\n', '\n\r'])}`],
      [3, () => `put ${r.of(NUMBERS)} ${r.of(NUMBERS)} ${r.of(NUMBERS)} ${r.int(40)}\r\n${noise(r, r.int(40))}\r\n`],
      [2, () => `put 0 0 60 4\r\nbody\r\n`],
      [2, () => 'reserve-with-timeout 0\r\n'],
      [1, () => `put 0 0 60 ${65_530 + r.int(12)}\r\n${'y'.repeat(65_530 + r.int(12))}\r\n`],
      [1, () => `put 0 0 60 ${r.of([1e6, 4_294_967_295])}\r\n${noise(r, 100)}`],
      [1, () => 'z'.repeat(r.of([200, 222, 223, 224, 225, 500, 70_000]))],
      [1, () => noise(r, r.int(400))],
    ])(),
  );
  return pieces.join('');
}

/** Cuts bytes into pieces of any length. */
export function cut(r: Random, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = r.int(3) === 0 ? 1 + r.int(4) : 1 + r.int(bytes.length);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

/**
 * A line whose answer is the same whoever is asked: it doesn't wait, doesn't hang up and is no call of HTTP, which
 * beanstalkd does not know; bytes that no line may have at its end or in its middle are left out.
 */
export function comparableLine(r: Random): string {
  for (;;) {
    const line = oddLine(r);
    const command = parse(line);
    const name = typeof command === 'string' ? '' : command.name;
    // how its number is read differs between the versions of beanstalkd
    const waits = name === 'reserve' || line.startsWith('reserve-with-timeout');
    const sends = name === 'put' || line.startsWith('put ');
    if (!waits && !sends && name !== 'quit' && !isHttp(line) && line.length < 200 && !line.includes('\r')) return line;
  }
}
