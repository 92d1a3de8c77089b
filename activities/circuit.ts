const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/**
 * A circuit breaker for calls to one receiver. It opens at the fifth failure in a row: from then on one call at a time is
 * a probe, after pauses that grow from a second to a minute, until one is served. Times are those of the caller's clock,
 * in milliseconds.
 */
export class Circuit {
  #failures = 0;
  #openUntil = 0;

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  get isOpen(): boolean {
    return this.#failures >= FAILURES_TO_OPEN;
  }

  /** When the next probe may be made; 0 unless it is open. */
  get probeAt(): number {
    return this.#openUntil;
  }

  /** @param inFlight calls without an answer */
  permits(inFlight: number, now: number): boolean {
    return !this.isOpen || (inFlight === 0 && now >= this.#openUntil);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntil = 0;
  }

  failed(now: number): void {
    this.#failures++;
    if (this.isOpen)
      this.#openUntil = now + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - FAILURES_TO_OPEN));
  }
}
