import ipaddr from 'ipaddr.js';
import { Problem } from '../services/shared/service.ts';

const WINDOW_MS = 60_000;
/** Wrong keys from one address within a minute. */
const MOST_WRONG = 20;
/** Bounds concurrent attempts, because a wrong one counts only when it ends. */
const MOST_AT_ONCE = 200;
const MOST_ADDRESSES = 10_000;

interface Address {
  wrong: number;
  running: number;
  until: number;
}

/** Limits sign-ins with wrong keys by client address, in this process. */
export class Attempts {
  readonly #addresses = new Map<string, Address>();

  /**
   * Runs `attempt`, which throws where the key is wrong.
   * @param remote the other end of the connection; behind a proxy that is the proxy, for all of its callers
   * @throws Problem `rate_limited` with the seconds until the next attempt is accepted
   */
  async run<T>(remote: string | undefined, attempt: () => Promise<T>): Promise<T> {
    const now = performance.now();
    const address = this.#of(networkOf(remote), now);
    if (address.wrong >= MOST_WRONG || address.running >= MOST_AT_ONCE) {
      const retryAfter = address.wrong >= MOST_WRONG ? Math.ceil((address.until - now) / 1000) : 1;
      throw new Problem('rate_limited', 'too many attempts to sign in from this address', { retryAfter });
    }
    address.running++;
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof Problem && error.code === 'unauthenticated') address.wrong++;
      throw error;
    } finally {
      address.running--;
    }
  }

  #of(name: string, now: number): Address {
    const known = this.#addresses.get(name);
    if (known && (known.until > now || known.running > 0)) return known;
    this.#addresses.delete(name);
    const [oldest] = this.#addresses.keys();
    if (oldest !== undefined && this.#addresses.size >= MOST_ADDRESSES) this.#addresses.delete(oldest);
    const fresh = { wrong: 0, running: 0, until: now + WINDOW_MS };
    this.#addresses.set(name, fresh);
    return fresh;
  }
}

/** The address; of IPv6 its /64 network, because one host may use all of it. */
function networkOf(remote: string | undefined): string {
  if (remote === undefined || !ipaddr.isValid(remote)) return '';
  const address = ipaddr.process(remote);
  return 'parts' in address ? address.parts.slice(0, 4).join(':') : address.toString();
}

/** The longest burst: calls of so much unused time. */
const BURST_MS = 1_000;
const MOST_KEYS = 10_000;

/** Limits each key's calls a second in this process (GCRA): evenly spaced, or a burst of one second's calls after a pause. */
export class CallRates {
  /** Per key: theoretical arrival time, by `performance.now()`. */
  readonly #arrivals = new Map<string, number>();

  /** Counts a call. @throws Problem `rate_limited` with the seconds until the next one is taken */
  take(key: string, perSecond: number): void {
    const now = performance.now();
    const eachMs = 1_000 / perSecond;
    const arrival = Math.max(this.#arrivals.get(key) ?? 0, now) + eachMs;
    const earlyMs = arrival - now - Math.max(BURST_MS, eachMs);
    if (earlyMs > 0) {
      const retryAfter = Math.max(1, Math.ceil(earlyMs / 1_000));
      throw new Problem('rate_limited', `this key may make ${perSecond} calls a second`, { retryAfter });
    }
    if (this.#arrivals.size >= MOST_KEYS) this.#arrivals.clear();
    this.#arrivals.set(key, arrival);
  }
}
