import { setTimeout as sleep } from 'node:timers/promises';
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

  async open(): Promise<Pair> {
    const [oracle, docket] = await Promise.all([Wire.open(this.#ports.oracle), Wire.open(this.#ports.docket)]);
    const pair = new Pair(this, oracle, docket);
    // a connection may be open before beanstalkd has accepted it, and only then is it counted
    await pair.ask('list-tube-used');
    return pair;
  }

  /** Jobs that a conversation left are deleted, once the connections that had them are gone. */
  async clean(): Promise<void> {
    for (const side of [0, 1] as const) {
      const wire = await Wire.open(side === 0 ? this.#ports.oracle : this.#ports.docket);
      for (let n = 1; n <= this.jobs; n++)
        while (!(await wire.ask(this.fill(`stats-job {${n}}`, side))).startsWith('NOT_FOUND')) {
          await wire.ask(this.fill(`delete {${n}}`, side));
        }
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
  fill(text: string, side: 0 | 1): string {
    return text.replaceAll(/\{(\d+)\}/g, (_, n) => this.#ids[Number(n) - 1]?.[side] ?? `${10 ** 12 + Number(n)}`);
  }

  #name(id: string, side: 0 | 1): string {
    const n = this.#ids.findIndex((ids) => ids[side] === id);
    return n === -1 ? `unknown ${id}` : `{${n + 1}}`;
  }

  /** A reply with its numbers as `{n}`. */
  plain(reply: string, side: 0 | 1): string {
    return reply
      .replace(/^(INSERTED|RESERVED|FOUND) (\d+)/, (_, word, id) => `${word} ${this.#name(id, side)}`)
      .replace(/^OK \d+(?=\r\n)/, 'OK')
      .replace(/^id: (\d+)$/m, (_, id) => `id: ${this.#name(id, side)}`);
  }
}

/** One connection to each server. */
export class Pair {
  readonly #both: Both;
  readonly oracle: Wire;
  readonly docket: Wire;

  constructor(both: Both, oracle: Wire, docket: Wire) {
    this.#both = both;
    this.oracle = oracle;
    this.docket = docket;
  }

  /** @param text of one or more commands without the last CRLF, latin1 */
  send(text: string): void {
    this.#both.log.push(text);
    this.oracle.send(Buffer.from(`${this.#both.fill(text, 0)}\r\n`, 'latin1'));
    this.docket.send(Buffer.from(`${this.#both.fill(text, 1)}\r\n`, 'latin1'));
  }

  /** The next reply of both, once they have been found to be the same. */
  async reply(about = ''): Promise<string> {
    const [ours, theirs] = [patiently(this.docket.reply()), patiently(this.oracle.reply())];
    const [oracle, docket] = await Promise.all([theirs, ours]);
    const put = /^INSERTED (\d+)\r\n/;
    const ids = [put.exec(oracle)?.[1], put.exec(docket)?.[1]];
    if (ids[0] && ids[1]) this.#both.put([ids[0], ids[1]]);
    const expected = this.#both.plain(oracle, 0);
    const got = this.#both.plain(docket, 1);
    this.#both.compared++;
    this.#both.log.push(`    ${JSON.stringify(got.slice(0, 60))}`);
    if (!same(expected, got)) {
      const context = this.#both.log.slice(-60).map((l) => l.slice(0, 200));
      throw new Error(
        `${about}\nbeanstalkd: ${JSON.stringify(expected)}\nDocket:     ${JSON.stringify(got)}\nafter:\n${context.join('\n')}`,
      );
    }
    return expected;
  }

  ask(text: string): Promise<string> {
    this.send(text);
    return this.reply(text);
  }

  /** Asks both over and over until both say so: beanstalkd acts on a clock of its own, and may be a second late. */
  async until(text: string, expected: RegExp): Promise<string> {
    for (let end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(100)) {
      this.send(text);
      const replies = await Promise.all([this.oracle.reply(), this.docket.reply()]);
      if (replies.every((reply) => expected.test(reply))) break;
    }
    return await this.ask(text);
  }

  put(body: string, { pri = 0, delay = 0, ttr = 60 } = {}): Promise<string> {
    return this.ask(`put ${pri} ${delay} ${ttr} ${body.length}\r\n${body}`);
  }

  /** Both have answered, or neither; a little time is given to the slower. */
  async answered(): Promise<boolean> {
    await sleep(4);
    if (!this.oracle.answered && !this.docket.answered) return false;
    for (let ms = 0; ms < PATIENCE_MS && !(this.oracle.answered && this.docket.answered); ms += 10) await sleep(10);
    return true;
  }

  /** Sends no more, reads on until the servers hang up: then what was reserved is free. */
  async end(): Promise<void> {
    for (const wire of [this.oracle, this.docket]) wire.socket.end();
    await this.reply('end');
  }

  close(): void {
    this.oracle.close();
    this.docket.close();
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
