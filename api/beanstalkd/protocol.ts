import type { Socket } from 'node:net';
import type { Item } from '../../contract/items.ts';
import { bodyBytes } from '../../domain/jobs.ts';

// Reads requests of beanstalkd's protocol (S3.8): lines, counted bytes and commands, as beanstalkd's own parser does.

type Plain = 'reserve' | 'stats' | 'quit' | `peek-${'ready' | 'delayed' | 'buried'}`;
type Listing = 'list-tubes' | 'list-tube-used' | 'list-tubes-watched';
type OfJob = 'peek' | 'reserve-job' | 'delete' | 'kick-job' | 'touch' | 'stats-job';
type OfTube = 'use' | 'watch' | 'ignore' | 'stats-tube';

/** Times in whole seconds, priorities 0 … 2³²−1. A `number` of −1 stands for one that no job can have. */
export type Command =
  | { name: Plain | Listing }
  | { name: OfJob; number: number }
  | { name: OfTube; tube: string }
  | { name: 'put'; priority: number; delay: number; ttr: number; bytes: number; wellFormed: boolean }
  | { name: 'reserve-with-timeout'; seconds: number }
  | { name: 'release'; number: number; priority: number; delay: number }
  | { name: 'bury'; number: number; priority: number }
  | { name: 'kick'; bound: number }
  | { name: 'pause-tube'; tube: string; seconds: number };

export type CommandName = Command['name'];

export const BAD_FORMAT = 'BAD_FORMAT\r\n';
export const UNKNOWN_COMMAND = 'UNKNOWN_COMMAND\r\n';

export const CRLF = '\r\n';

const U32 = 2n ** 32n;
const U64 = 2n ** 64n;
const MAX_TIMEOUT = 2 ** 31 - 1;
const TUBE = /^[A-Za-z0-9+/;.$_()][A-Za-z0-9+/;.$_()-]{0,199}$/;

export const isTube = (name: string) => TUBE.test(name);

/**
 * Numbers one after the other, up to 2³²−1; `number` is up to 2⁶⁴−1, and −1 from 2⁵³ on, which no job has.
 * @returns undefined where one is invalid; `rest`: what stands behind them
 */
function numbersIn<Name extends string>(text: string, ...names: Name[]) {
  const found: [string, number][] = [];
  let rest = text;
  for (const name of names) {
    const [all = '', digits] = /^ *(\d+)/.exec(rest) ?? [];
    if (digits === undefined || BigInt(digits) >= (name === 'number' ? U64 : U32)) return undefined;
    found.push([name, Number.isSafeInteger(Number(digits)) ? Number(digits) : -1]);
    rest = rest.slice(all.length);
  }
  return { numbers: Object.fromEntries(found) as Record<Name, number>, rest };
}

type Parser = (rest: string) => Command | undefined;

const plain =
  (name: Plain | Listing): Parser =>
  (rest) =>
    rest === '' ? { name } : undefined;

/** A command about one job, whose number others may follow. */
const ofJob =
  (name: OfJob | 'release' | 'bury', ...others: ('priority' | 'delay')[]): Parser =>
  (rest) => {
    const read = numbersIn(rest, 'number', ...others);
    return read?.rest === '' ? ({ name, ...read.numbers } as Command) : undefined;
  };

const ofTube =
  (name: OfTube): Parser =>
  (rest) =>
    isTube(rest) ? { name, tube: rest } : undefined;

const put: Parser = (rest) => {
  const read = numbersIn(rest, 'priority', 'delay', 'ttr', 'bytes');
  // a body that is too long is reported before the rest of the line is checked
  return read && { name: 'put', ...read.numbers, wellFormed: read.rest === '' };
};

/** As C's strtol: it accepts a sign and ignores the rest of the line. */
const SIGNED = /^[ \t\n\v\f\r]*([+-]?)(\d+)/;

/** Without a number, the time is 0. */
const reserveWithTimeout: Parser = (rest) => {
  const [, sign, digits] = SIGNED.exec(rest) ?? [];
  const seconds = Number(digits ?? 0) * (sign === '-' ? -1 : 1);
  return seconds >= 0 && seconds <= MAX_TIMEOUT ? { name: 'reserve-with-timeout', seconds } : undefined;
};

const kick: Parser = (rest) => {
  const [, sign = '', digits] = SIGNED.exec(rest) ?? [];
  if (digits === undefined || BigInt(digits) >= U64) return undefined;
  const value = sign === '-' ? U64 - BigInt(digits) : BigInt(digits);
  return { name: 'kick', bound: Number(value % U32) };
};

const pauseTube: Parser = (rest) => {
  const [, tube = '', after = ''] = /^ *([A-Za-z0-9+/;.$_()-]+)(.*)$/s.exec(rest) ?? [];
  const read = numbersIn(after, 'seconds');
  return read?.rest === '' && tube !== '' ? { name: 'pause-tube', tube, ...read.numbers } : undefined;
};

/** In beanstalkd's order: the first prefix that matches a line counts. */
const COMMANDS: [prefix: string, parse: Parser][] = [
  ['put ', put],
  ['peek ', ofJob('peek')],
  ['peek-ready', plain('peek-ready')],
  ['peek-delayed', plain('peek-delayed')],
  ['peek-buried', plain('peek-buried')],
  ['reserve-with-timeout ', reserveWithTimeout],
  ['reserve-job ', ofJob('reserve-job')],
  ['reserve', plain('reserve')],
  ['delete ', ofJob('delete')],
  ['release ', ofJob('release', 'priority', 'delay')],
  ['bury ', ofJob('bury', 'priority')],
  ['kick ', kick],
  ['kick-job ', ofJob('kick-job')],
  ['touch ', ofJob('touch')],
  ['stats-job ', ofJob('stats-job')],
  ['stats-tube ', ofTube('stats-tube')],
  ['stats', plain('stats')],
  ['use ', ofTube('use')],
  ['watch ', ofTube('watch')],
  ['ignore ', ofTube('ignore')],
  ['list-tubes-watched', plain('list-tubes-watched')],
  ['list-tube-used', plain('list-tube-used')],
  ['list-tubes', plain('list-tubes')],
  // beanstalkd ignores the rest of the line
  ['quit', () => ({ name: 'quit' })],
  ['pause-tube', pauseTube],
];

/**
 * Whether a line, or the end of one, is the request line of an HTTP call. Any web page can make its reader's browser
 * send one to a port of that machine, and the body behind it would be taken for commands.
 */
export const isHttp = (line: string) => / HTTP\/\d(\.\d)?$/.test(line);

/** @param line without its CRLF @returns the command, or the reply to an invalid line */
export function parse(line: string): Command | typeof BAD_FORMAT | typeof UNKNOWN_COMMAND {
  if (line.includes('\0')) return BAD_FORMAT;
  const found = COMMANDS.find(([prefix]) => line.startsWith(prefix));
  return found ? (found[1](line.slice(found[0].length)) ?? BAD_FORMAT) : UNKNOWN_COMMAND;
}

/** Read ahead while a reserve is blocked; more stays in the kernel's buffer. */
const READ_AHEAD_BYTES = 256 * 1024;
/** A line with its CRLF. */
const MAX_LINE_BYTES = 224;
/** Bytes that are kept of a line that is too long. */
const TAIL_BYTES = 16;

interface Line {
  /** Without its CRLF; the end of one that is too long. */
  text: string;
  tooLong: boolean;
}

/** Reads lines and counted bytes from a connection. Every read is `undefined` after the client's last byte. */
export class Reader {
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    const end = () => {
      this.#ended = true;
      this.#wake?.();
    };
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
      if (this.#bytes.length > READ_AHEAD_BYTES) socket.pause();
      this.#wake?.();
    });
    socket.on('end', end);
    socket.on('close', end);
  }

  /** The next line. One that is too long is skipped to its end. */
  async line(): Promise<Line | undefined> {
    let skipping = false;
    for (;;) {
      const line = this.lineHere();
      if (line) return { ...line, tooLong: skipping || line.tooLong };
      if (this.#bytes.length >= MAX_LINE_BYTES) {
        skipping = true;
        // the last byte of them may be the first half of the CRLF
        this.#take(this.#bytes.length - TAIL_BYTES);
      }
      if (!(await this.#more())) return undefined;
    }
  }

  async bytes(count: number): Promise<Buffer | undefined> {
    for (;;) {
      const bytes = this.bytesHere(count);
      if (bytes || !(await this.#more())) return bytes;
    }
  }

  /** The next line, if all of it has arrived. */
  lineHere(): Line | undefined {
    const end = this.#bytes.indexOf(CRLF);
    if (end === -1) return undefined;
    const line = this.#take(end + CRLF.length);
    return { text: line.toString('latin1', 0, end), tooLong: line.length > MAX_LINE_BYTES };
  }

  /** `count` bytes, if all of them have arrived. */
  bytesHere(count: number): Buffer | undefined {
    return this.#bytes.length < count ? undefined : this.#take(count);
  }

  /** The result of `read` on the bytes that have arrived. Where it is undefined, none are consumed. */
  ahead<T>(read: () => T | undefined): T | undefined {
    const before = this.#bytes;
    const made = read();
    if (made === undefined) this.#bytes = before;
    return made;
  }

  /** Discards bytes as they arrive. @returns whether all of them arrived */
  async skip(count: number): Promise<boolean> {
    let left = count;
    for (;;) {
      left -= this.#take(Math.min(left, this.#bytes.length)).length;
      if (left === 0) return true;
      if (!(await this.#more())) return false;
    }
  }

  #take(count: number): Buffer {
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    if (this.#socket.isPaused() && this.#bytes.length < READ_AHEAD_BYTES) this.#socket.resume();
    return taken;
  }

  /** @returns false when nothing more will come */
  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    const before = this.#bytes.length;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
    return this.#bytes.length > before || !this.#ended;
  }
}

export type Reply = string | Buffer;

export const NOT_FOUND = 'NOT_FOUND\r\n';
export const TIMED_OUT = 'TIMED_OUT\r\n';
export const DEADLINE_SOON = 'DEADLINE_SOON\r\n';
export const INTERNAL_ERROR = 'INTERNAL_ERROR\r\n';

/** A job with its body, in one piece so that it is one write. */
export function jobReply(word: 'RESERVED' | 'FOUND', item: Pick<Item, 'seq' | 'body'>): Buffer {
  const body = bodyBytes(item.body);
  return Buffer.concat([Buffer.from(`${word} ${item.seq} ${body.length}${CRLF}`), body, Buffer.from(CRLF)]);
}

/** A YAML document of keys and values; `list` is the other form that beanstalkd has. */
export function dictionary(entries: [key: string, value: string | number][]): string {
  return document(entries.map(([key, value]) => `${key}: ${value}\n`));
}

export const list = (names: string[]) => document(names.map((name) => `- ${name}\n`));

/** A JSON string is a YAML string too, whatever the text. */
export const quoted = (text: string) => JSON.stringify(text);

function document(lines: string[]): string {
  const yaml = `---\n${lines.join('')}`;
  return `OK ${Buffer.byteLength(yaml)}${CRLF}${yaml}${CRLF}`;
}
