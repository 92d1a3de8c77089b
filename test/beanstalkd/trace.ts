import { repeat } from '../support/client.ts';
import type { Both, Pair } from './both.ts';
import { Random } from './random.ts';

const TUBES = ['default', 'mail', 'a+b/c;d.$_(e)', 't'.repeat(200), '-9'.slice(1)];
const CONNECTIONS = 4;
const LONG = [100, 200, 300, 500, 900];

/** Commands that are wrong, or ask for nothing that is there; some end in a space. */
const BAD = [
  ...'statsx|stats |reserve |reserve x|reserve-with-timeout|reserve-with-timeout 0x|reserve-with-timeout 0 '.split('|'),
  ...'reserve-job|reserve-job x|peek|peek |peek 1x|peek-ready |peek-buriedx|delete|delete |delete -1'.split('|'),
  ...'delete 18446744073709551616|delete 18446744073709551615|release 1|release 1 1|release 1 1 -1'.split('|'),
  ...'release 1 4294967296 0|bury 1|bury 1 x|kick|kick |kick x|kick -0|kick 0junk|kick +0'.split('|'),
  ...'kick 18446744073709551616|kick-job x|touch|touch 1 1|use|use |use -x|use a b|watch|watch ü|ignore '.split('|'),
  ...'list-tubes |list-tube|list-tube-usedx|list-tubes-watchedx|pause-tube|pause-tube default'.split('|'),
  ...'pause-tube default x|pause-tube -x 0|pause-tube nobody 0|pause-tube  default  0|stats-tube nobody'.split('|'),
  ...'stats-tube -|stats-job 0|stats-job 1 2|ignore nobody|put|put 0 0 0|put -1 0 0 0|put 0 0 0 4294967296'.split('|'),
  ...'put 0 0 0 0x|put 0 0 0 0 |PUT 0 0 0 0| stats|'.split('|'),
  ...[`use ${'x'.repeat(201)}`, `pause-tube ${'x'.repeat(201)} 0`, 'a\0b', 'use a\0b', 'qui', '\x80\xff'],
  ...['x'.repeat(222), 'x'.repeat(300), `stats${' '.repeat(240)}`],
];

/** Behind a body in the place of its CRLF: its first two bytes are dropped, the rest is a line of its own. */
const NO_CRLF = 'not CRLF';

/** One client of the trace, as far as it has to be known to ask it sensible things. */
interface Client {
  pair: Pair;
  blocked: boolean;
}

/** A random conversation of several connections: everything but the passing of time. */
export class Trace {
  readonly #random: Random;
  readonly #both: Both;
  readonly #clients: Client[] = [];
  readonly #runs: number;
  #jobs = 0;

  /** @param runs how much of it are runs: many commands of one sort sent at once */
  constructor(both: Both, seed: number, runs = 0.03) {
    this.#both = both;
    this.#random = new Random(seed);
    this.#runs = runs;
  }

  async run(commands: number): Promise<void> {
    this.#both.begin();
    for (let n = 0; n < CONNECTIONS; n++) this.#clients.push({ pair: await this.#both.open(), blocked: false });
    const end = this.#both.compared + commands;
    while (this.#both.compared < end) await this.#step();
    await this.#clean();
  }

  async #step(): Promise<void> {
    const r = this.#random;
    const client = r.of(this.#clients.filter((c) => !c.blocked));
    const kind = r.next();
    if (kind < 0.02 && !this.#blocked) await this.#replace(client);
    else if (kind < 0.05 && !this.#blocked) await this.#block(client);
    // a job that comes ready reaches who waits a moment later than in beanstalkd, and a command sent ahead sees it
    else if (kind < 0.15 && !this.#blocked) {
      const lines = repeat(2 + r.int(6), () => this.#command());
      await this.#ask(client, lines);
    } else if (r.next() < this.#runs && !this.#blocked) await this.#ask(client, this.#run());
    else await this.#ask(client, [this.#command()]);
    await this.#unblock();
  }

  /** Commands of one sort, now and then with another or a wrong one between them. */
  #run(): string[] {
    const one = this.#random.weighted(this.#changes());
    return repeat(2 + this.#random.int(14), () => (this.#random.int(15) === 0 ? this.#command() : one()));
  }

  async #ask(client: Client, lines: string[]): Promise<void> {
    client.pair.send(lines.join('\r\n'));
    for (const line of lines) {
      await client.pair.reply(line);
      if (line.endsWith(NO_CRLF)) await client.pair.reply('what followed a body without CRLF');
    }
  }

  /** A reserve that waits as long as it takes; one at a time, since who of several gets a job is anybody's guess. */
  async #block(client: Client): Promise<void> {
    client.pair.send(this.#random.of(['reserve', 'reserve-with-timeout 1000']));
    client.blocked = true;
    // by the time both have answered another one twice, beanstalkd has looked at this one: unanswered means that it waits
    const other = this.#clients.find((c) => !c.blocked);
    for (let n = 0; n < 2; n++) await other?.pair.ask('list-tube-used');
  }

  /**
   * While somebody waits no two jobs are made ready at once: beanstalkd gives them the first of these,
   * Docket the one that comes first by priority.
   */
  get #blocked(): Client | undefined {
    return this.#clients.find((c) => c.blocked);
  }

  async #unblock(): Promise<void> {
    const blocked = this.#blocked;
    if (!blocked || !(await blocked.pair.answered())) return;
    blocked.blocked = false;
    await blocked.pair.reply('a blocked reserve');
  }

  async #replace(client: Client): Promise<void> {
    if (this.#random.int(2) === 0) await client.pair.ask('quit');
    else await client.pair.end();
    client.pair.close();
    client.pair = await this.#both.open();
  }

  /** Commands that Docket carries out many at a time, each with its weight. */
  #changes(): [number, () => string][] {
    return [
      [22, () => this.#put()],
      [16, () => 'reserve-with-timeout 0'],
      [8, () => `delete ${this.#job()}`],
      [8, () => `release ${this.#job()} ${this.#priority()} ${this.#delay()}`],
      [6, () => `bury ${this.#job()} ${this.#priority()}`],
      [3, () => `touch ${this.#job()}`],
    ];
  }

  #command(): string {
    const r = this.#random;
    const make = r.weighted<() => string>([
      ...this.#changes(),
      [4, () => `reserve-job ${this.#job()}`],
      [3, () => `kick-job ${this.#job()}`],
      [4, () => `kick ${r.of(this.#blocked ? [0, 1] : [0, 1, 1, 2, 5, 4294967295])}`],
      [4, () => `peek ${this.#job()}`],
      [6, () => r.of(['peek-ready', 'peek-delayed', 'peek-buried'])],
      [4, () => `use ${r.of(TUBES)}`],
      [4, () => `watch ${r.of(TUBES)}`],
      [3, () => `ignore ${r.of(TUBES)}`],
      [2, () => `pause-tube ${r.of(TUBES)} ${r.of([0, 0, 0, 1000])}`],
      [6, () => `stats-job ${this.#job()}`],
      [4, () => `stats-tube ${r.of(TUBES)}`],
      [1, () => 'stats'],
      [3, () => r.of(['list-tubes', 'list-tube-used', 'list-tubes-watched'])],
      [4, () => r.of(BAD)],
    ]);
    return make();
  }

  /** Mostly one of the latest, sometimes any, sometimes none at all. */
  #job(): string {
    const r = this.#random;
    const n = r.next() < 0.8 ? this.#jobs - r.int(12) : 1 + r.int(this.#jobs + 3);
    return `{${Math.max(1, n)}}`;
  }

  #put(): string {
    const r = this.#random;
    const body = this.#body();
    const line = `put ${this.#priority()} ${this.#delay()} ${r.of(['1000', '2000', '4294967'])}`;
    const flaw = r.int(40);
    if (flaw === 0) return `${line} ${body.length}\r\n${body}${NO_CRLF}`;
    if (flaw === 1) return `${line} 65536\r\n${'y'.repeat(65_536)}`;
    this.#jobs++;
    return `${line} ${body.length}\r\n${body}`;
  }

  #body(): string {
    const r = this.#random;
    const kind = r.int(20);
    if (kind === 0) return '';
    if (kind === 1) return repeat(r.int(300), () => String.fromCharCode(r.int(256))).join('');
    if (kind === 2) return `delete 1\r\nput 0 0 0 0\r\n\r\n`;
    if (kind === 3 && r.int(5) === 0) return 'z'.repeat(65_535);
    if (kind === 4) return Buffer.from('Grüße, 東京 🚀').toString('latin1');
    if (kind === 5) return '{"$base64":"AAEC"}';
    return `job ${r.int(1e6)}`;
  }

  #priority(): number {
    return this.#random.of([0, 0, 1, 1023, 1024, 1024, 4294967295]);
  }

  #delay(): number {
    return this.#random.next() < 0.7 ? 0 : this.#random.of(LONG);
  }

  /** Nothing is left for the next trace. */
  async #clean(): Promise<void> {
    // who waits goes first: the end of another would make several jobs ready for them at once
    const clients = [...this.#clients].sort((a, b) => Number(b.blocked) - Number(a.blocked));
    for (const { pair, blocked } of clients) {
      if (blocked) {
        // who hangs up half while waiting is told TIMED_OUT
        pair.halfClose();
        await pair.reply('a blocked reserve whose client ended');
        await pair.reply('end');
      } else await pair.end();
      pair.close();
    }
    const pair = await this.#both.open();
    for (let n = 1; n <= this.#both.jobs; n++) await pair.ask(`delete {${n}}`);
    await pair.ask('list-tubes');
    await pair.ask('stats');
    await pair.ask('quit');
  }
}
