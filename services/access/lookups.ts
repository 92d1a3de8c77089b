const KEPT_MS = 1_000;
/** Cache limit; cleared when exceeded. */
const MOST_KEPT = 10_000;

/** Keeps what was looked up for a second, so that each call need not ask the database. */
export class Lookups<T> {
  readonly #found = new Map<string, { value: T; at: number }>();

  async get(name: string, look: () => Promise<T>): Promise<T> {
    const known = this.#found.get(name);
    if (known && Date.now() - known.at < KEPT_MS) return known.value;
    const value = await look();
    this.set(name, value);
    return value;
  }

  set(name: string, value: T): void {
    if (this.#found.size > MOST_KEPT) this.#found.clear();
    this.#found.set(name, { value, at: Date.now() });
  }

  delete(name: string): void {
    this.#found.delete(name);
  }
}
