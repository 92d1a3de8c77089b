import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const CRLF = '\r\n';
const WITH_BODY = /^(RESERVED|FOUND) \d+ (\d+)$|^OK (\d+)$/;

/** One raw connection: what a test sends is what goes over the wire, and replies come back whole. */
export class Wire {
  readonly socket: Socket;
  #bytes = Buffer.alloc(0);
  #ended = false;
  readonly #waiting: ((reply: string) => void)[] = [];
  readonly #replies: string[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      for (let reply = this.#next(); reply !== undefined; reply = this.#next()) this.#give(reply);
    });
    const end = () => {
      this.#ended = true;
      for (const give of this.#waiting.splice(0)) give('(closed)');
    };
    socket.on('end', end);
    socket.on('close', end);
  }

  static async open(port: number): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return new Wire(socket);
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** The next reply with its body and CRLFs, as latin1; `(closed)` when there will be none. */
  reply(): Promise<string> {
    const ready = this.#replies.shift();
    if (ready !== undefined) return Promise.resolve(ready);
    if (this.#ended) return Promise.resolve('(closed)');
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  ask(line: string | Buffer): Promise<string> {
    this.send(typeof line === 'string' ? line + CRLF : Buffer.concat([line, Buffer.from(CRLF)]));
    return this.reply();
  }

  put(body: string, { pri = 0, delay = 0, ttr = 60 } = {}): Promise<string> {
    return this.ask(`put ${pri} ${delay} ${ttr} ${Buffer.byteLength(body)}${CRLF}${body}`);
  }

  /** Whether a reply is there already. */
  get answered(): boolean {
    return this.#replies.length > 0;
  }

  close(): void {
    this.socket.destroy();
  }

  #give(reply: string): void {
    const give = this.#waiting.shift();
    if (give) give(reply);
    else this.#replies.push(reply);
  }

  #next(): string | undefined {
    const end = this.#bytes.indexOf(CRLF);
    if (end === -1) return undefined;
    const [, , body, yaml] = WITH_BODY.exec(this.#bytes.toString('latin1', 0, end)) ?? [];
    const length = body ?? yaml;
    const whole = length === undefined ? end + 2 : end + 2 + Number(length) + 2;
    if (this.#bytes.length < whole) return undefined;
    const reply = this.#bytes.toString('latin1', 0, whole);
    this.#bytes = this.#bytes.subarray(whole);
    return reply;
  }
}
