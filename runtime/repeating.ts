/** Work that processes everything outstanding: one run at a time, and one more for calls during it. */
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

  /** Starts a run, because there may be work. */
  run(): void {
    this.#wanted = true;
    this.#running ??= this.#loop();
  }

  /** Starts no more runs, and waits for the current one. */
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
