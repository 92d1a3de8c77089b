import * as topics from '../../services/jobs/topics.ts';
import type { Context } from '../../services/shared/context.ts';
import { isTube } from './protocol.ts';

/** This process's counts of a tube. Its jobs are counted in the database. */
export interface Tube {
  readonly name: string;
  using: number;
  watching: number;
  waiting: number;
  puts: number;
  deletes: number;
  pauses: number;
}

/** Tubes whose counts are kept at least, used or not. */
const MOST_IDLE = 10_000;

const OPEN_STATES = ['ready', 'delayed', 'held', 'buried'];

const newTube = (name: string): Tube => ({ name, using: 0, watching: 0, waiting: 0, puts: 0, deletes: 0, pauses: 0 });

/**
 * The tubes that exist. As in beanstalkd, a tube exists while it has jobs or a connection uses or watches it; `default`
 * always exists.
 */
export class Tubes {
  readonly #ctx: Context;
  readonly #tubes = new Map([['default', newTube('default')]]);
  /** Above so many tubes, those that no connection uses or watches are removed: clients choose the names. */
  #most = MOST_IDLE;
  /** Look-ups of tubes that are being created; concurrent connections share them. */
  readonly #opening = new Map<string, Promise<void>>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** Adds a connection that uses or watches the tube. */
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

  /** The counts of a tube, made if there are none. */
  counted(name: string): Tube {
    const known = this.#tubes.get(name);
    if (known) return known;
    if (this.#tubes.size >= this.#most) this.#forget();
    const tube = newTube(name);
    this.#tubes.set(name, tube);
    return tube;
  }

  /** The tube, if it exists. */
  async find(name: string): Promise<Tube | undefined> {
    const known = this.#tubes.get(name);
    if (known && isReferenced(known)) return known;
    if (await topics.isOpen(this.#ctx, name)) return this.counted(name);
    this.#tubes.delete(name);
    return undefined;
  }

  /**
   * The names of all tubes. Topics whose names no tube can have are left out, because clients parse the list.
   * @param counts of all topics, where they have been read already
   */
  async names(counts?: Map<string, topics.TopicCounts>): Promise<string[]> {
    const found = counts ?? (await topics.counts(this.#ctx));
    const isOpen = (n: topics.TopicCounts) => OPEN_STATES.some((state) => n[state]);
    const open = [...found].flatMap(([name, n]) => (isTube(name) && isOpen(n) ? [name] : []));
    const names = new Set(['default', ...open]);
    for (const [name, tube] of this.#tubes) {
      if (isReferenced(tube)) names.add(name);
      else if (!names.has(name)) this.#tubes.delete(name);
    }
    return [...names];
  }

  #forget(): void {
    for (const [name, tube] of this.#tubes) if (!isReferenced(tube)) this.#tubes.delete(name);
    this.#most = Math.max(MOST_IDLE, 2 * this.#tubes.size);
  }

  async #open(name: string): Promise<void> {
    if (!(await topics.isOpen(this.#ctx, name))) this.#tubes.delete(name);
  }
}

const isReferenced = (tube: Tube) => tube.name === 'default' || tube.using > 0 || tube.watching > 0;
