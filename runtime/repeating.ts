/** Work that looks for everything there is to do: one run at a time, and one more for calls that came during it. */
export class Repeating {
  readonly #work: () => Promise<void>;
  readonly #failed: (error: Error) => void;
  #running: Promise<void> | undefined;
  #wanted = false;
  #stopped = false;

  constructor(work: () => Promise<void>, failed: (error: Error) => void) {
    this.#work = work;
    this.#failed = failed;
  }

  /** There may be something to do. */
  run(): void {
    this.#wanted = true;
    this.#running ??= this.#loop();
  }

  /** Does no more, and waits for the run under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #loop(): Promise<void> {
    while (this.#wanted && !this.#stopped) {
      this.#wanted = false;
      await this.#work().catch(this.#failed);
    }
    this.#running = undefined;
  }
}
