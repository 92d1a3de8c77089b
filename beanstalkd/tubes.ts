import type { Db } from '../db/pool.ts';
import { openTube, topicCounts } from '../db/tubes.ts';

/** A tube as this process knows it. The jobs are the database's, these counts are this process's own. */
export interface Tube {
  readonly name: string;
  using: number;
  watching: number;
  waiting: number;
  puts: number;
  deletes: number;
  pauses: number;
}

const OPEN_STATES = ['ready', 'delayed', 'held', 'buried'];

const newTube = (name: string): Tube => ({ name, using: 0, watching: 0, waiting: 0, puts: 0, deletes: 0, pauses: 0 });

/**
 * Which tubes there are. As with beanstalkd one comes to be when it is used or watched, and ceases when
 * it has no jobs and nobody uses or watches it; `default` always is.
 */
export class Tubes {
  readonly #db: Db;
  readonly #tubes = new Map([['default', newTube('default')]]);
  /** Of tubes that come to be: whoever names one meanwhile waits for the same look. */
  readonly #opening = new Map<string, Promise<void>>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** For one more connection that uses it or watches it. */
  async hold(name: string, as: 'using' | 'watching'): Promise<Tube> {
    const known = this.#tubes.get(name);
    if ((!known || !isReferenced(known)) && !this.#opening.has(name)) {
      const opening = this.#open(name).finally(() => this.#opening.delete(name));
      this.#opening.set(name, opening);
    }
    await this.#opening.get(name);
    const tube = this.counted(name);
    tube[as]++;
    return tube;
  }

  drop(tube: Tube, as: 'using' | 'watching'): void {
    tube[as]--;
  }

  /** Where to count what happens to a tube. */
  counted(name: string): Tube {
    const tube = this.#tubes.get(name) ?? newTube(name);
    this.#tubes.set(name, tube);
    return tube;
  }

  /** The tube, if it exists. */
  async find(name: string): Promise<Tube | undefined> {
    const known = this.#tubes.get(name);
    if (known && isReferenced(known)) return known;
    if (await openTube(this.#db, name)) return this.counted(name);
    this.#tubes.delete(name);
    return undefined;
  }

  /** @param counts of all topics, where they have been read already */
  async names(counts?: Map<string, Record<string, number>>): Promise<string[]> {
    const topics = counts ?? (await topicCounts(this.#db, null));
    const open = [...topics].filter(([, n]) => OPEN_STATES.some((state) => n[state])).map(([name]) => name);
    const names = new Set(['default', ...open]);
    for (const [name, tube] of this.#tubes) {
      if (isReferenced(tube)) names.add(name);
      else if (!names.has(name)) this.#tubes.delete(name);
    }
    return [...names];
  }

  async #open(name: string): Promise<void> {
    if (!(await openTube(this.#db, name))) this.#tubes.delete(name);
  }
}

const isReferenced = (tube: Tube) => tube.name === 'default' || tube.using > 0 || tube.watching > 0;
