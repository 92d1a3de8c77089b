import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import type { Follower } from './followers/follower.ts';
import type { Waiters } from './waiting.ts';

/** Maximum names with series of their own: callers choose them, and each series costs memory and time of every scrape. */
export const MOST_NAMES = 1_000;
/** The same of the histogram, which has a series for each bucket. */
const MOST_TIMED_NAMES = 200;
/** The label of all other names; no queue can have it. */
export const OTHERS = '(others)';

/** Buckets in seconds: from a job that is popped at once to a ticket that waits overnight. */
const HAND_OVER_BUCKETS = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3_600, 21_600, 86_400];

type HandOut = Pick<Item, 'attempts' | 'available_at' | 'updated_at'>;

/**
 * Seconds for which a ticket or job was available before its first hand-out; null for later ones, because its row does not
 * say since when it has been available again.
 */
export const waitedSeconds = ({ attempts, available_at, updated_at }: HandOut): number | null =>
  attempts === 1 ? Math.max(0, updated_at.getTime() - available_at.getTime()) / 1_000 : null;

/** The counts of one queue, topic, court or group. */
interface Entry {
  labels: { kind: Kind; queue: string };
  handedOut: number;
  /** By reason. */
  empty: Map<string, number>;
  handOver: { observe(seconds: number): void } | undefined;
}

/**
 * This process's counters for Prometheus: sums over processes are those of the system. They are counted in memory, so they
 * cost a claim one addition.
 */
export class ProcessMetrics {
  readonly registry = new Registry();
  readonly #entries = new Map<string, Entry>();
  #timedNames = 0;
  readonly #handOver: Histogram<'kind' | 'queue'>;

  constructor({ waiters, follower }: { waiters: Waiters; follower: Follower | undefined }) {
    const registers = [this.registry];
    this.#handOver = new Histogram({
      name: 'docket_hand_over_seconds',
      help: 'From when a ticket or job was available until it was handed out for the first time',
      labelNames: ['kind', 'queue'],
      buckets: HAND_OVER_BUCKETS,
      registers,
    });
    this.#addCounters(registers);
    addGauges(registers, waiters, follower);
  }

  /** Counts a new hand-out. @param seconds how long the item had been available; null: not known */
  handedOut(kind: Kind, queue: string, seconds: number | null = null): void {
    const entry = this.#entry(kind, queue);
    entry.handedOut++;
    if (seconds !== null) entry.handOver?.observe(seconds);
  }

  /** Counts an empty answer. @param reason the first that applies, as answers name it */
  empty(kind: Kind, queue: string, reason: string): void {
    const { empty } = this.#entry(kind, queue);
    empty.set(reason, (empty.get(reason) ?? 0) + 1);
  }

  #entry(kind: Kind, queue: string): Entry {
    return this.#entries.get(`${kind}/${queue}`) ?? this.#enter(kind, queue);
  }

  #enter(kind: Kind, queue: string): Entry {
    const isFull = this.#entries.size >= MOST_NAMES;
    const name = isFull || isPerson(kind, queue) ? OTHERS : queue;
    const key = `${kind}/${name}`;
    const known = this.#entries.get(key);
    if (known) return known;
    const labels = { kind, queue: name };
    const entry: Entry = { labels, handedOut: 0, empty: new Map(), handOver: this.#observer(kind, name) };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Cases and tasks have several holders at once, so a hand-out does not end their wait. */
  #observer(kind: Kind, queue: string): Entry['handOver'] {
    if (kind !== 'ticket' && kind !== 'job') return undefined;
    const isFull = this.#timedNames >= MOST_TIMED_NAMES;
    if (!isFull) this.#timedNames++;
    return this.#handOver.labels(kind, isFull ? OTHERS : queue);
  }

  #addCounters(registers: Registry[]): void {
    const all = () => this.#entries.values();
    new Counter({
      name: 'docket_handed_out_total',
      help: `Items newly handed out by this process; beyond ${MOST_NAMES} names the others together as ${OTHERS}`,
      labelNames: ['kind', 'queue'],
      registers,
      collect() {
        this.reset();
        for (const { labels, handedOut } of all()) this.inc(labels, handedOut);
      },
    });
    new Counter({
      name: 'docket_empty_answers_total',
      help: 'Callers of this process who asked for work and got none, by the first reason that applies',
      labelNames: ['kind', 'queue', 'reason'],
      registers,
      collect() {
        this.reset();
        for (const { labels, empty } of all()) for (const [reason, n] of empty) this.inc({ ...labels, reason }, n);
      },
    });
  }
}

/** Tasks' own queues are not listed: there may be one for each person. */
const isPerson = (kind: Kind, queue: string) => kind === 'task' && queue.startsWith('uid_');

function addGauges(registers: Registry[], waiters: Waiters, follower: Follower | undefined): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read());
      },
    });
  gauge('docket_waiting_callers', 'Long polls', () => waiters.size);
  if (!follower) return;
  gauge('docket_publishing_items', 'Items that this process is to publish to their workflows', () => follower.pending);
  gauge('docket_not_started_items', 'Items that were over for too long to get a workflow', () => follower.skipped);
  gauge('docket_temporal_down', '1 while this process cannot publish to Temporal', () => (follower.down ? 1 : 0));
}
