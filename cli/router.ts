import { readFileSync } from 'node:fs';
import { listenHttp } from '../api/listening.ts';
import { createRouter } from '../router/app.ts';
import { Places } from '../router/places.ts';
import type { Config } from '../runtime/config.ts';
import type { Log } from '../runtime/log.ts';
import { createLog } from './core.ts';
import { Misused } from './misused.ts';
import { listenAddresses } from './process.ts';

/** Runs the router until SIGTERM or SIGINT; SIGHUP reads its file again. @throws Error where the file is wrong */
export async function routerCommand(config: Config, file: string): Promise<void> {
  const log = createLog(config, 'router');
  const table = new Table(file, log);
  const listening = await listenHttp(listenAddresses(config).http);
  const { fetch } = createRouter({ places: () => table.places, adding: table.adding, open: config.open, log });
  listening.open(fetch);
  process.on('SIGHUP', () => void table.reload());
  console.log(`Docket router is ready: http://${listening.address}`);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
  await listening.close();
  process.exit(0);
}

/** The file as it was last read. While a new one takes over nothing is added. */
class Table {
  readonly #file: string;
  readonly #log: Log;
  #places: Places;
  readonly #adds = new Set<Promise<unknown>>();
  #taking: Promise<void> = Promise.resolve();

  constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
    this.#places = this.#read();
  }

  get places(): Places {
    return this.#places;
  }

  adding = async <T>(work: (places: Places) => Promise<T>): Promise<T> => {
    await this.#taking;
    const add = work(this.#places);
    this.#adds.add(add);
    try {
      return await add;
    } finally {
      this.#adds.delete(add);
    }
  };

  /** A file that is wrong changes nothing. */
  async reload(): Promise<void> {
    try {
      const places = this.#read();
      this.#taking = this.#taking.then(async () => {
        await Promise.allSettled(this.#adds);
        this.#places = places;
      });
      await this.#taking;
      console.log(`Docket router has read ${this.#file}`);
    } catch (error) {
      console.error(`${(error as Error).message}; the router goes on as before`);
      this.#log.error({ err: (error as Error).message }, 'the places could not be read');
    }
  }

  #read(): Places {
    try {
      return new Places(readFileSync(this.#file, 'utf8'));
    } catch (error) {
      throw new Misused(`${this.#file}: ${(error as Error).message}`);
    }
  }
}
