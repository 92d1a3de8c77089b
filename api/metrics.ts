import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DELIVERED_KINDS } from '../contract/kinds.ts';
import { violations } from '../services/doctor/invariants.ts';
import * as figures from '../services/figures/figures.ts';
import * as reviews from '../services/reviews/reviews.ts';
import type { Context } from '../services/shared/context.ts';
import { queueMetrics } from './queue-metrics.ts';

export interface Metrics {
  /** All of them in Prometheus' text format. */
  text(): Promise<string>;
  calls: Histogram<'method' | 'route' | 'status'>;
  refused: Counter<'code'>;
}

/** The metrics of an API process: its own, and those of the whole system, which are read when it is scraped. */
export function createMetrics(ctx: Context): Metrics {
  const { registry } = ctx.metrics;
  const registers = [registry];
  addSystem(ctx, registers);
  addDeliveries(ctx, registers);
  addReviewGauge(ctx, registers);
  addInvariants(ctx, registers);
  return {
    async text() {
      const [ofQueues, others] = await Promise.all([queueMetrics(ctx), registry.metrics()]);
      return others + ofQueues;
    },
    calls: new Histogram({
      name: 'docket_http_seconds',
      help: 'Duration of API calls, waiting included',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60],
      registers,
    }),
    refused: new Counter({
      name: 'docket_refused_total',
      help: 'Problems answered, by code',
      labelNames: ['code'],
      registers,
    }),
  };
}

/**
 * Shares one reading between the metrics of a scrape, which are collected at once. Undefined while PostgreSQL cannot be
 * read, so that the metrics of the process itself can still be scraped.
 */
function shared<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined;
  return () => {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}

/** Replaces all lines of a metric after reading, in one step: two scrapes may overlap. */
async function refill<T>(
  metric: { reset(): void },
  read: Promise<T[] | undefined>,
  add: (one: T) => void,
): Promise<void> {
  const found = await read;
  metric.reset();
  for (const one of found ?? []) add(one);
}

function addSystem(ctx: Context, registers: Registry[]): void {
  const gauge = <T>(name: string, help: string, read: () => Promise<T | undefined>, toNumber: (found: T) => number) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        const found = await read();
        if (found === undefined) this.remove();
        else this.set(toNumber(found));
      },
    });
  const unpublished = shared(() => figures.unpublished(ctx));
  const parked = shared(() => figures.parked(ctx));
  gauge(
    'docket_postgres_up',
    '1: this process can read from PostgreSQL; 0: what is of the whole system is left out',
    async () => ((await parked()) === undefined ? 0 : 1),
    (up) => up,
  );
  gauge(
    'docket_followed',
    '1: a worker publishes to the workflows',
    shared(() => figures.isFollowed(ctx)),
    Number,
  );
  gauge(
    'docket_unpublished_rows',
    'Lines of the log behind the slowest lane of publishing; estimated from 10,000 on',
    unpublished,
    ({ waiting }) => waiting,
  );
  gauge(
    'docket_unpublished_oldest_seconds',
    'Age of the oldest of them',
    unpublished,
    ({ oldest_seconds }) => oldest_seconds,
  );
  gauge(
    'docket_resync_rows',
    'Schedules and repeated deliveries that Temporal may have otherwise than their rows say',
    shared(() => figures.resync(ctx)),
    Number,
  );
  gauge('docket_parked_items', 'Items whose due transition fails; must be 0', parked, Number);
  gauge(
    'docket_delivery_oldest_pending_seconds',
    'Age of the oldest delivery that is pending',
    shared(() => figures.oldestDelivery(ctx)),
    Number,
  );
}

const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

/** Deliveries of the whole system, because workers make the attempts. */
function addDeliveries(ctx: Context, registers: Registry[]): void {
  const read = shared(() => figures.deliveries(ctx));
  /** With zeros: a counter that appears with the first failure would not show an increase. */
  const counts = async (prefix: string) => {
    const found = await read();
    const numberOf = (kind: string, what: string) =>
      found?.find((row) => row.kind === kind && row.what === what)?.n ?? 0;
    const kinds = found ? DELIVERED_KINDS : [];
    return kinds.flatMap((kind) =>
      DELIVERY_STATES.map((state) => ({ kind, state, n: numberOf(kind, prefix + state) })),
    );
  };
  const hosts = shared(() => figures.pendingHosts(ctx));
  new Gauge({
    name: 'docket_deliveries',
    help: 'Deliveries of all processes by kind and state: pending, failed, delivered',
    labelNames: ['kind', 'state'],
    registers,
    collect() {
      return refill(this, counts(''), ({ kind, state, n }) => this.set({ kind, state }, n));
    },
  });
  new Counter({
    name: 'docket_delivery_attempts_total',
    help: 'Attempts of all processes by kind and the state in which they left the delivery',
    labelNames: ['kind', 'outcome'],
    registers,
    collect() {
      return refill(this, counts('attempt_'), ({ kind, state, n }) => this.inc({ kind, outcome: state }, n));
    },
  });
  new Gauge({
    name: 'docket_delivery_host_pending',
    help: 'Pending deliveries by host, of the 5,000 oldest of each kind; the 50 hosts with the most of them',
    labelNames: ['host'],
    registers,
    collect() {
      return refill(this, hosts(), ({ host, n }) => this.set({ host }, n));
    },
  });
  new Gauge({
    name: 'docket_delivery_host_oldest_seconds',
    help: 'Age of the oldest pending delivery to each of these hosts',
    labelNames: ['host'],
    registers,
    collect() {
      return refill(this, hosts(), ({ host, oldest_seconds }) => this.set({ host }, oldest_seconds));
    },
  });
}

function addReviewGauge(ctx: Context, registers: Registry[]): void {
  const counts = shared(async () => {
    const { day: _, ...byOutcome } = await reviews.counts(ctx, null);
    return Object.entries(byOutcome);
  });
  new Gauge({
    name: 'docket_review_log_lines_today',
    help: "Lines of all reviews' logs of this day (UTC), by outcome: callbacks, and edits by authors",
    labelNames: ['outcome'],
    registers,
    collect() {
      return refill(this, counts(), ([outcome, n]) => this.set({ outcome }, n));
    },
  });
}

function addInvariants(ctx: Context, registers: Registry[]): void {
  new Gauge({
    name: 'docket_invariant_violations',
    help: 'Rows that break an invariant, by check of docket doctor; must be 0. Shown by one API process of all that live',
    labelNames: ['check'],
    registers,
    collect() {
      this.reset();
      for (const [check, n] of violations(ctx)) this.set({ check }, n);
    },
  });
}
