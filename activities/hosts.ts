import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Log } from '../runtime/log.ts';
import { Circuit } from './circuit.ts';

/** Calls to receivers that a process has in flight at once; also the activity slots of its delivery worker. */
export const DELIVERY_SLOTS = 50;
/** Slots that a host leaves to others: one whose last call failed, and one that was never called. */
const LEFT_BY_FAILING = 20;
const LEFT_BY_UNKNOWN = 5;
/** Slots that hosts with a call in flight leave to hosts without one. */
const LEFT_FOR_FIRST = 10;
const MAX_PER_HOST = 8;
/** Of those, slots that only outcomes get: redeliveries and reviews' changes may come in any number. */
const KEPT_FOR_VERDICTS = 2;
/** A host's share of the remaining slots, so that many slow hosts together leave some free. */
const SHARE = 0.25;
const FIRST_GUESS_MS = 20;
const MIN_SPACING_MS = 5;
const MAX_SPACING_MS = 300;
const MIN_DELAY_MS = 200;
const MAX_DELAY_MS = 600_000;
const SWEEP_MS = 60_000;

interface Host {
  name: string;
  inFlight: number;
  /** Of those, other calls than outcomes. */
  others: number;
  /** Maximum calls in flight: doubles with each answer, 1 after a failure. */
  limit: number;
  circuit: Circuit;
  answered: boolean;
  /** Duration of a call in milliseconds, smoothed. */
  callMs: number;
  /** When one of its calls in flight last ended, or the first began. */
  quietSince: number;
  /** When the last postponed delivery comes back: of outcomes, and of others. */
  lastTurn: { verdict: number; other: number };
}

/** An item's outcome, or any other delivery. */
export type Lane = 'verdict' | 'other';

/** The right to one call to a host. */
export interface Slot {
  readonly host: string;
  /** Reports the result of the call. @param served whether the host has answered, and is available */
  report(served: boolean): void;
  /** Gives the slot back; a second time does nothing. */
  release(): void;
}

/**
 * Decides which hosts this process may call now. A delivery whose host has no free slot is postponed: it fails at
 * once with a retry delay of its own, so that it holds no activity slot while it waits. Postponed deliveries of a host
 * come back at the rate at which the host takes calls, and more slowly while it fails. Each host has a circuit breaker.
 */
export class Hosts {
  readonly #log: Log;
  readonly #hosts = new Map<string, Host>();
  /** The host that each postponed delivery waits for, and when it comes back. */
  readonly #postponed = new Map<string, { host: string; due: number }>();
  #inFlight = 0;
  #sweptAt = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * A slot for a delivery that was postponed here before; undefined: its host is not known.
   * @throws ApplicationFailure when it has to wait again
   */
  resume(delivery: string, lane: Lane): Slot | undefined {
    const known = this.#postponed.get(delivery);
    return known && this.take(delivery, lane, known.host);
  }

  /** @throws ApplicationFailure when the delivery has to wait */
  take(delivery: string, lane: Lane, name: string): Slot {
    const host = this.#hostOf(name);
    if (!this.#hasSlot(host, lane)) throw this.#postpone(delivery, lane, host);
    this.#postponed.delete(delivery);
    const other = lane === 'other' ? 1 : 0;
    const began = performance.now();
    if (host.inFlight === 0) host.quietSince = began;
    host.inFlight++;
    host.others += other;
    this.#inFlight++;
    let held = true;
    return {
      host: name,
      report: (served) => {
        host.quietSince = performance.now();
        const ms = host.quietSince - began;
        host.callMs = host.answered ? 0.8 * host.callMs + 0.2 * ms : ms;
        if (served) this.#served(host);
        else this.#failed(host);
      },
      release: () => {
        if (!held) return;
        held = false;
        host.inFlight--;
        host.others -= other;
        this.#inFlight--;
      },
    };
  }

  #hasSlot(host: Host, lane: Lane): boolean {
    const free = DELIVERY_SLOTS - this.#inFlight;
    if (free <= leftBy(host)) return false;
    if (host.circuit.isOpen) return host.circuit.permits(host.inFlight, performance.now());
    if (lane === 'other' && host.others >= Math.max(1, host.limit - KEPT_FOR_VERDICTS)) return false;
    return host.inFlight < Math.min(host.limit, Math.max(1, Math.floor((free - LEFT_FOR_FIRST) * SHARE)));
  }

  #served(host: Host): void {
    if (host.circuit.isOpen) this.#log.info({ host: host.name }, 'a receiver answers again');
    // deliveries that waited for a failing host come back at its new rate
    if (host.circuit.failures > 0) host.lastTurn = { verdict: 0, other: 0 };
    host.circuit.succeeded();
    host.answered = true;
    host.limit = Math.min(MAX_PER_HOST, host.limit * 2);
  }

  #failed(host: Host): void {
    const wasOpen = host.circuit.isOpen;
    host.circuit.failed(performance.now());
    host.answered = false;
    host.limit = 1;
    const fields = { host: host.name, failures: host.circuit.failures };
    if (host.circuit.isOpen && !wasOpen) this.#log.warn(fields, 'a receiver does not answer, its deliveries wait');
  }

  #postpone(delivery: string, lane: Lane, host: Host): ApplicationFailure {
    const now = performance.now();
    this.#sweep(now);
    const turn = Math.max(host.lastTurn[lane], now + MIN_DELAY_MS, host.circuit.probeAt) + spacing(host, now);
    host.lastTurn[lane] = turn;
    const most = MAX_DELAY_MS * (0.5 + 0.5 * Math.random());
    const delay = Math.min(turn - now, most);
    this.#postponed.set(delivery, { host: host.name, due: now + delay });
    return later('postponed', `${host.name} takes no more calls now`, Math.round(delay));
  }

  #hostOf(name: string): Host {
    const known = this.#hosts.get(name);
    if (known) return known;
    const calls = { inFlight: 0, others: 0, limit: 1, callMs: FIRST_GUESS_MS, quietSince: 0 };
    const circuit = new Circuit();
    const host: Host = { name, ...calls, circuit, answered: false, lastTurn: { verdict: 0, other: 0 } };
    this.#hosts.set(name, host);
    return host;
  }

  /** Forgets deliveries that came back to another process, and idle hosts without failures. */
  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [delivery, { due }] of this.#postponed) if (due + SWEEP_MS < now) this.#postponed.delete(delivery);
    for (const [name, host] of this.#hosts)
      if (host.inFlight === 0 && host.circuit.failures === 0 && Math.max(...Object.values(host.lastTurn)) < now)
        this.#hosts.delete(name);
  }
}

/**
 * Fails an attempt until the next one, after a delay in milliseconds: Temporal's own would also count the time spent
 * waiting for a slot. Benign, because the sender logs it.
 */
export const later = (type: string, message: string, nextRetryDelay: number) =>
  ApplicationFailure.create({ type, message, nextRetryDelay, category: ApplicationFailureCategory.BENIGN });

const leftBy = ({ circuit, answered }: Host): number =>
  circuit.failures > 0 ? LEFT_BY_FAILING : answered ? 0 : LEFT_BY_UNKNOWN;

/**
 * Milliseconds between two postponed deliveries of a host: the duration of a call, judged by those that have ended and
 * by the age of those in flight, divided by the host's limit; more with each failure.
 */
function spacing({ circuit, callMs, limit, inFlight, quietSince }: Host, now: number): number {
  const call = inFlight > 0 ? Math.max(callMs, now - quietSince) : callMs;
  return Math.min(MAX_SPACING_MS, Math.max(MIN_SPACING_MS, 2 ** circuit.failures, call / limit));
}
