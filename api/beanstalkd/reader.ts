import type { Socket } from 'node:net';
import { MAX_LINE_BYTES } from './protocol.ts';

/** What a client may send ahead while its reserve is blocked; more waits in the kernel. */
const READ_AHEAD_BYTES = 256 * 1024;
const CRLF = '\r\n';

/** What is kept of a line that is too long. */
const TAIL_BYTES = 16;

export interface Line {
  /** Without its CRLF; the end of one that is too long. */
  text: string;
  tooLong: boolean;
}

/** Lines and counted bytes of a connection, in turn. Every read is `undefined` once the client has sent all. */
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
      const end = this.#bytes.indexOf(CRLF);
      if (end !== -1) {
        const line = this.#take(end + CRLF.length);
        return { text: line.toString('latin1', 0, end), tooLong: skipping || line.length > MAX_LINE_BYTES };
      }
      if (this.#bytes.length >= MAX_LINE_BYTES) {
        skipping = true;
        // the last byte of them may be the first half of the CRLF
        this.#take(this.#bytes.length - TAIL_BYTES);
      }
      if (!(await this.#more())) return undefined;
    }
  }

  async bytes(count: number): Promise<Buffer | undefined> {
    while (this.#bytes.length < count) if (!(await this.#more())) return undefined;
    return this.#take(count);
  }

  /** Throws bytes away as they come. @returns whether all of them came */
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
