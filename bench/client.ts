import { connect, type Socket } from 'node:net';

export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field
  body: any;
}

const SEPARATOR = Buffer.from('\r\n\r\n');

/**
 * One caller: one keep-alive connection, one call at a time. Written on the socket because the load
 * shares the cores with what it measures, and `fetch` costs more than the server's own frame.
 */
export class Caller {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #answer: ((reply: Reply) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#fail?.(error));
    socket.on('close', () => this.#fail?.(new Error('the server closed the connection')));
  }

  static open(url: string): Promise<Caller> {
    const { hostname, port, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => resolve(new Caller(socket, host)));
      socket.once('error', reject);
    });
  }

  get(path: string): Promise<Reply> {
    return this.#send('GET', path, '');
  }

  post(path: string, body: unknown): Promise<Reply> {
    return this.#send('POST', path, JSON.stringify(body));
  }

  put(path: string, body: unknown): Promise<Reply> {
    return this.#send('PUT', path, JSON.stringify(body));
  }

  patch(path: string, body: unknown): Promise<Reply> {
    return this.#send('PATCH', path, JSON.stringify(body));
  }

  delete(path: string): Promise<Reply> {
    return this.#send('DELETE', path, '');
  }

  close(): void {
    this.#fail = undefined;
    this.#socket.destroy();
  }

  #send(method: string, path: string, body: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the connection is closed'));
      this.#answer = resolve;
      this.#fail = reject;
      this.#socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\ncontent-type: application/json\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf(SEPARATOR);
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const rest = this.#received.subarray(end + SEPARATOR.length);
    const text = bodyOf(head, rest);
    if (text === undefined) return;
    this.#received = Buffer.alloc(0);
    const answer = this.#answer;
    this.#answer = undefined;
    this.#fail = undefined;
    answer?.({ status: Number(head.slice(9, 12)), body: text === '' ? undefined : JSON.parse(text) });
  }
}

/** The whole body, or undefined while a part is missing. */
function bodyOf(head: string, rest: Buffer): string | undefined {
  const length = /^content-length: *(\d+)/im.exec(head);
  if (length) return rest.length < Number(length[1]) ? undefined : rest.toString('utf8');
  if (!/^transfer-encoding: *chunked/im.test(head)) return '';
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, line), 16);
    if (rest.length < line + size + 4) return undefined;
    if (size === 0) return Buffer.concat(parts).toString('utf8');
    parts.push(rest.subarray(line + 2, line + 2 + size));
    at = line + size + 4;
  }
}

/** As many callers as asked for, all connected. */
export const openCallers = (url: string, n: number): Promise<Caller[]> =>
  Promise.all(Array.from({ length: n }, () => Caller.open(url)));

/** @throws when the answer is not one of those that were expected */
export function need(reply: Reply, ...statuses: number[]): Reply['body'] {
  if (statuses.includes(reply.status)) return reply.body;
  throw new Error(`answered ${reply.status}: ${JSON.stringify(reply.body)}`);
}
