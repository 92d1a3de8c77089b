import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { Wire } from './wire.ts';

type Ids = [oracle: string, docket: string];

const PATIENCE_MS = 20_000;
/** Whole seconds that the two servers may have begun at different moments. */
const ROUNDED = new Set(['age', 'time-left', 'pause-time-left']);
/** Of `stats`, what doesn't say which program and machine it is. */
const OWN = /^(pid|version|rusage-.*|uptime|binlog-.*|id|hostname|os|platform)$/;

/** The same conversations with beanstalkd and with Docket. `{3}` stands for the third job put in one. */
export class Both {
  readonly #ports: { oracle: number; docket: number };
  #ids: Ids[] = [];
  /** Commands whose replies have been compared. */
  compared = 0;
  /** The last lines sent, for the report of a difference. */
  readonly log: string[] = [];

  constructor(ports: { oracle: number; docket: number }) {
    this.#ports = ports;
  }

  #wires(): Promise<[Wire, Wire]> {
    return Promise.all([Wire.open(this.#ports.oracle), Wire.open(this.#ports.docket)]);
  }

  async open(): Promise<Pair> {
    const pair = new Pair(this, await this.#wires());
    // a connection may be open before beanstalkd has accepted it, and only then is it counted
    await pair.ask('list-tube-used');
    return pair;
  }

  /** Jobs that a conversation left are deleted, once the connections that had them are gone. */
  async clean(): Promise<void> {
    for (const [side, wire] of (await this.#wires()).entries()) {
      for (let n = 1; n <= this.jobs; n++)
        while (!(await wire.ask(this.fill(`stats-job {${n}}`, side))).startsWith('NOT_FOUND'))
          await wire.ask(this.fill(`delete {${n}}`, side));
      wire.close();
    }
  }

  /** Another conversation: jobs are counted anew. */
  begin(): void {
    this.#ids = [];
    this.log.length = 0;
  }

  /** How many jobs have been put. */
  get jobs(): number {
    return this.#ids.length;
  }

  put(ids: Ids): void {
    this.#ids.push(ids);
  }

  /** A number that nobody has got stays unknown to both. */
  fill(text: string, side: number): string {
    return text.replaceAll(/\{(\d+)\}/g, (_, n) => this.#ids[Number(n) - 1]?.[side] ?? `${10 ** 12 + Number(n)}`);
  }

  /** A reply with its numbers as `{n}`. */
  plain(reply: string, side: number): string {
    const name = (id: string) => {
      const n = this.#ids.findIndex((ids) => ids[side] === id);
      return n === -1 ? `unknown ${id}` : `{${n + 1}}`;
    };
    return reply
      .replace(/^(INSERTED|RESERVED|FOUND) (\d+)/, (_, word, id) => `${word} ${name(id)}`)
      .replace(/^OK \d+(?=\r\n)/, 'OK')
      .replace(/^id: (\d+)$/m, (_, id) => `id: ${name(id)}`);
  }
}

/** One connection to each server. */
export class Pair {
  readonly #both: Both;
  readonly #wires: [oracle: Wire, docket: Wire];

  constructor(both: Both, wires: [Wire, Wire]) {
    this.#both = both;
    this.#wires = wires;
  }

  /** @param text of one or more commands without the last CRLF, latin1 */
  send(text: string): void {
    this.#both.log.push(text);
    for (const [side, wire] of this.#wires.entries())
      wire.send(Buffer.from(`${this.#both.fill(text, side)}\r\n`, 'latin1'));
  }

  #replies(): Promise<string[]> {
    return Promise.all(this.#wires.map((wire) => patiently(wire.reply())));
  }

  /** The next reply of both, once they have been found to be the same. */
  async reply(about = ''): Promise<string> {
    const both = this.#both;
    const replies = await this.#replies();
    const [oracle, docket] = replies.map((reply) => /^INSERTED (\d+)\r\n/.exec(reply)?.[1]);
    if (oracle && docket) both.put([oracle, docket]);
    const [expected = '', got = ''] = replies.map((reply, side) => both.plain(reply, side));
    both.compared++;
    both.log.push(`    ${JSON.stringify(got.slice(0, 60))}`);
    if (!same(expected, got)) {
      const after = both.log.slice(-60).map((line) => line.slice(0, 200));
      const differing = `beanstalkd: ${JSON.stringify(expected)}\nDocket:     ${JSON.stringify(got)}`;
      throw new Error(`${about}\n${differing}\nafter:\n${after.join('\n')}`);
    }
    return expected;
  }

  ask(text: string): Promise<string> {
    this.send(text);
    return this.reply(text);
  }

  /** Asks both over and over until both say so: beanstalkd acts on a clock of its own, and may be a second late. */
  async until(text: string, expected: RegExp): Promise<string> {
    await eventually(async () => {
      this.send(text);
      return (await this.#replies()).every((reply) => expected.test(reply));
    });
    return this.ask(text);
  }

  put(body: string, { pri = 0, delay = 0, ttr = 60 } = {}): Promise<string> {
    return this.ask(`put ${pri} ${delay} ${ttr} ${body.length}\r\n${body}`);
  }

  /** Both have answered, or neither; a little time is given to the slower. */
  async answered(): Promise<boolean> {
    await sleep(4);
    if (!this.#wires.some((wire) => wire.answered)) return false;
    return eventually(async () => this.#wires.every((wire) => wire.answered));
  }

  /** Sends no more, and may read on. */
  halfClose(): void {
    for (const wire of this.#wires) wire.socket.end();
  }

  /** Reads on until the servers hang up: then what was reserved is free. */
  async end(): Promise<void> {
    this.halfClose();
    await this.reply('end');
  }

  close(): void {
    for (const wire of this.#wires) wire.close();
  }
}

function patiently(reply: Promise<string>): Promise<string> {
  return Promise.race([reply, sleep(PATIENCE_MS, '(no answer)', { ref: false })]);
}

function same(expected: string, got: string): boolean {
  if (expected === got) return true;
  if (!expected.startsWith('OK\r\n---\n') || !got.startsWith('OK\r\n---\n')) return false;
  const [theirs, ours] = [expected.split('\n'), got.split('\n')];
  // the order of list-tubes means nothing
  if (expected.includes('\n- ')) return theirs.sort().join('\n') === ours.sort().join('\n');
  return theirs.length === ours.length && theirs.every((line, n) => sameLine(line, ours[n] ?? ''));
}

function sameLine(expected: string, got: string): boolean {
  const [key = '', value] = expected.split(': ');
  const [ourKey, ourValue] = got.split(': ');
  if (key !== ourKey) return false;
  // "id" is a job's number in stats-job, which begins with it, and the server's own in stats
  if (OWN.test(key) && !expected.includes('{')) return true;
  if (ROUNDED.has(key)) return Math.abs(Number(value) - Number(ourValue)) <= 1;
  // quoted since 1.13
  if (key === 'name' || key === 'tube') return `"${value}"` === ourValue || value === ourValue;
  return value === ourValue;
}
