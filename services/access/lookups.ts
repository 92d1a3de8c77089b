const KEPT_MS = 1_000;
/** Cache limit; the oldest goes. */
const MOST_KEPT = 10_000;

/**
 * Keeps what was found for a second, so that each call need not ask the database. What is asked for at once is looked up once.
 * What was not found is not kept: strangers could fill the cache with it.
 */
export class Lookups<T> {
  readonly #found = new Map<string, { value: T; at: number }>();
  readonly #looking = new Map<string, Promise<T | undefined>>();

  /** @param keptMs the greatest age of the answer */
  async get(name: string, look: () => Promise<T | undefined>, keptMs = KEPT_MS): Promise<T | undefined> {
    const known = this.#found.get(name);
    if (known && performance.now() - known.at < keptMs) return known.value;
    const looking = this.#looking.get(name) ?? this.#look(name, look);
    return looking;
  }

  /** Whether it was found before, or is being looked up: asking for it is not a stranger's call. */
  knows(name: string): boolean {
    return this.#found.has(name) || this.#looking.has(name);
  }

  delete(name: string): void {
    this.#found.delete(name);
    this.#looking.delete(name);
  }

  #look(name: string, look: () => Promise<T | undefined>): Promise<T | undefined> {
    const at = performance.now();
    const looking = look()
      .then((value) => {
        // deleted meanwhile: what was read may be older than that
        if (this.#looking.get(name) !== looking) return value;
        this.#found.delete(name);
        if (value !== undefined) this.#keep(name, value, at);
        return value;
      })
      .finally(() => {
        if (this.#looking.get(name) === looking) this.#looking.delete(name);
      });
    this.#looking.set(name, looking);
    return looking;
  }

  #keep(name: string, value: T, at: number): void {
    const [oldest] = this.#found.keys();
    if (oldest !== undefined && this.#found.size >= MOST_KEPT) this.#found.delete(oldest);
    this.#found.set(name, { value, at });
  }
}
