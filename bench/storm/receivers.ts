import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Json } from '../../test/support/client.ts';
import type { Ill } from './plan.ts';

/** A callback as it came; each counts, also where the receiver's answer was lost. */
export interface Received {
  at: number;
  /** Its `webhook-id`: the same for each try. */
  id: string;
  type: string;
  version: number;
  item: string;
}

const SECRET = `whsec_${Buffer.from('the secret of the storm, 24 to 64').toString('base64')}`;
const HANG_MS = 20_000;
const SLOW_MS = 2_000;

/** Takes all callbacks, in health and in illness. */
export class Receiver {
  readonly received: Received[] = [];
  /** Calls that were not signed with the secret. */
  forged = 0;
  /** Signed at a time that is too far from this machine's: the clock of a worker is off. They come again. */
  outOfTime = 0;
  readonly #ills = new Set<Ill>();
  readonly #verify = new Webhook(SECRET);
  readonly #now: () => number;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns what a queue, topic or court names as its callback */
  listen(): Promise<{ url: string; secret: string }> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => {
        const { port } = this.#server.address() as { port: number };
        resolve({ url: `http://127.0.0.1:${port}/`, secret: SECRET });
      });
    });
  }

  set(ill: Ill, isIll: boolean): void {
    if (isIll) this.#ills.add(ill);
    else this.#ills.delete(ill);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      this.#read(request, Buffer.concat(pieces).toString());
    } catch (error) {
      if (/timestamp/.test((error as Error).message)) this.outOfTime++;
      else this.forged++;
      return void response.writeHead(400).end();
    }
    if (this.#ills.has('forgets')) return void response.socket?.resetAndDestroy();
    if (this.#ills.has('hangs')) await sleep(HANG_MS);
    if (this.#ills.has('slow')) await sleep(SLOW_MS);
    response.writeHead(this.#ills.has('fails') ? 500 : 200).end();
  }

  #read(request: IncomingMessage, text: string): void {
    const { type, version, ...rest } = this.#verify.verify(text, request.headers as Record<string, string>) as Json;
    const id = String(request.headers['webhook-id']);
    const [kind = ''] = type.split('.');
    this.received.push({ at: this.#now(), id, type, version, item: `${kind}/${rest[kind]?.id}` });
  }
}
