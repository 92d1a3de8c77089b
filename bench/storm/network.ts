import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `cut`: connections are reset, and none is taken. `frozen`: nothing passes, and no one is told (half open). `slow`: each piece
 * waits. `deaf`: what is asked gets through, and the connection is reset before its answer.
 */
export type Mode = 'open' | 'cut' | 'frozen' | 'slow' | 'deaf';

const SLOW_MS = 150;

/** A line between two programs that can fail in the ways in which networks do. */
export class Line {
  readonly port: number;
  #mode: Mode = 'open';
  readonly #server: Server;
  readonly #pairs = new Set<[Socket, Socket]>();
  #opened: (() => void)[] = [];

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  /** @param to a port of this machine */
  static open(to: number): Promise<Line> {
    const server = createServer({ allowHalfOpen: true });
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const line = new Line(server, (server.address() as { port: number }).port);
        server.on('connection', (caller) => line.#join(caller, connect({ port: to, allowHalfOpen: true })));
        resolve(line);
      });
    });
  }

  set(mode: Mode): void {
    this.#mode = mode;
    if (mode === 'cut') for (const pair of this.#pairs) reset(pair);
    if (mode === 'frozen') return;
    for (const opened of this.#opened.splice(0)) opened();
  }

  close(): void {
    this.set('cut');
    this.#server.close();
  }

  #join(caller: Socket, called: Socket): void {
    const pair: [Socket, Socket] = [caller, called];
    for (const socket of pair) socket.on('error', () => reset(pair));
    if (this.#mode === 'cut') {
      reset(pair);
      return;
    }
    this.#pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        reset(pair);
      });
    }
    void this.#pass(caller, called, () => true);
    void this.#pass(called, caller, () => this.#mode !== 'deaf' || void reset(pair));
  }

  /** @param passes whether a piece may go on */
  async #pass(from: Socket, to: Socket, passes: () => unknown): Promise<void> {
    try {
      for await (const piece of from.iterator({ destroyOnReturn: false })) {
        if (this.#mode === 'frozen') await new Promise<void>((opened) => this.#opened.push(opened));
        if (this.#mode === 'slow') await sleep(SLOW_MS);
        if (!passes()) return;
        if (!to.write(piece)) await new Promise((drained) => to.once('drain', drained).once('close', drained));
      }
      to.end();
    } catch {
      // reset by one of the two, or by a fault
    }
  }
}

function reset(pair: [Socket, Socket]): void {
  for (const socket of pair) {
    if (socket.destroyed) continue;
    // one that is being shut down cannot be reset: Node would keep it open for ever, and its loop busy
    if (socket.writableEnded) socket.destroy();
    else socket.resetAndDestroy();
  }
}
