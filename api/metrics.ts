import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DELIVERED_KINDS } from '../contract/kinds.ts';
import type { Kind } from '../contract/snapshot.ts';
import type { RowOf } from '../db/pool.ts';
import { transitionsOf } from '../domain/lifecycle.ts';
import { MOST_NAMES, OTHERS } from '../runtime/metrics.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { FigureService } from '../services/figures.ts';
import type { InvariantMonitor } from '../services/invariants.ts';
import type { ReviewService } from '../services/reviews.ts';
import type { Services } from '../services/services.ts';

export interface Metrics {
  registry: Registry;
  calls: Histogram<'method' | 'route' | 'status'>;
  refused: Counter<'code'>;
}

/** What `GET /metrics` of an API process shows: what it sees itself, and the whole system, read when it is scraped. */
export function createMetrics({ metrics: { registry } }: Runtime, services: Services): Metrics {
  const { figures, reviews, invariants } = services;
  const registers = [registry];
  addSystem(figures, registers);
  addQueues(figures, registers);
  addDeliveries(figures, registers);
  addReviewGauge(reviews, registers);
  addInvariants(invariants, registers);
  return {
    registry,
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
 * A scrape collects all metrics at once: those that show parts of one reading share it. Without PostgreSQL they show nothing, so
 * that what the process sees itself can still be scraped.
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

/** Replaces a metric's lines by those of what was read, all at once: two scrapes may come together. */
async function refill<T>(
  metric: { reset(): void },
  read: Promise<T[] | undefined>,
  add: (one: T) => void,
): Promise<void> {
  const found = await read;
  metric.reset();
  for (const one of found ?? []) add(one);
}

function addSystem(figures: FigureService, registers: Registry[]): void {
  const gauge = <T>(name: string, help: string, read: () => Promise<T | undefined>, toNumber: (found: T) => number) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        const found = await read();
        if (found === undefined) this.remove();
        else this.set(toNumber(found));
      },
    });
  const unpublished = shared(figures.unpublished);
  const parked = shared(figures.parked);
  gauge(
    'docket_postgres_up',
    '1: this process can read from PostgreSQL; 0: what is of the whole system is left out',
    async () => ((await parked()) === undefined ? 0 : 1),
    (up) => up,
  );
  gauge('docket_followed', '1: a worker publishes to the workflows', shared(figures.isFollowed), Number);
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
    shared(figures.resync),
    Number,
  );
  gauge('docket_parked_items', 'Items whose due transition fails; must be 0', parked, Number);
  gauge(
    'docket_delivery_oldest_pending_seconds',
    'Age of the oldest delivery that is pending',
    shared(figures.oldestDelivery),
    Number,
  );
}

type QueueRow = RowOf<'queue_metrics'>;
type Count = (typeof OPEN)[number] | (typeof ENDED)[number];

const OPEN = ['delayed', 'ready', 'held', 'buried'] as const;
const ENDED = ['settled', 'invalidated', 'expired', 'dead'] as const;
const COUNTERS = ['added', ...ENDED, 'lapsed'] as const;
/** So that no kind has lines for states that it does not know. */
const statesOf = (kind: Kind, among: readonly Count[]) => {
  const known = new Set<string>(transitionsOf(kind).map(({ to }) => to));
  return among.filter((state) => known.has(state));
};
const isNothing = (row: QueueRow) => [...OPEN, ...COUNTERS].every((what) => row[what] === 0);

/** Of queues, topics, courts and groups, which are the same for each API process: take the maximum over these. */
function addQueues(figures: FigureService, registers: Registry[]): void {
  const read = shared(() => figures.queues(MOST_NAMES));
  // users without a group are others, too: no line where there are none
  const rows = async () => ((await read()) ?? []).filter((row) => row.queue !== null || !isNothing(row));
  const labelsOf = ({ kind, queue }: QueueRow) => ({ kind, queue: queue ?? OTHERS });
  new Gauge({
    name: 'docket_items',
    help: `Open items by state, of the ${MOST_NAMES} queues, topics, courts and groups that were made first; the others of a kind together as ${OTHERS}, a minute old`,
    labelNames: ['kind', 'queue', 'state'],
    registers,
    collect() {
      return refill(this, rows(), (row) => {
        for (const state of statesOf(row.kind, OPEN)) this.set({ ...labelsOf(row), state }, row[state]);
      });
    },
  });
  new Gauge({
    name: 'docket_oldest_ready_seconds',
    help: 'For how long the oldest item that could be handed out has waited; 0: there is none',
    labelNames: ['kind', 'queue'],
    registers,
    collect() {
      return refill(this, rows(), (row) => {
        if (row.queue !== null) this.set(labelsOf(row), row.oldest_seconds ?? 0);
      });
    },
  });
  const counter = (name: string, help: string, of: 'added' | 'lapsed') =>
    new Counter({
      ...{ name, help, registers, labelNames: ['kind', 'queue'] },
      collect() {
        return refill(this, rows(), (row) => this.inc(labelsOf(row), row[of]));
      },
    });
  counter('docket_added_total', 'Items added, or moved here from another queue', 'added');
  counter('docket_lease_expiries_total', 'Leases that ran out', 'lapsed');
  new Counter({
    name: 'docket_ended_total',
    help: 'Items that ended, by the state in which they did',
    labelNames: ['kind', 'queue', 'outcome'],
    registers,
    collect() {
      return refill(this, rows(), (row) => {
        for (const outcome of statesOf(row.kind, ENDED)) this.inc({ ...labelsOf(row), outcome }, row[outcome]);
      });
    },
  });
}

const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

/** Of the whole system, not of this process: workers make the attempts. */
function addDeliveries(figures: FigureService, registers: Registry[]): void {
  const read = shared(figures.deliveries);
  /** Also where there are none yet: what appears with the first failure is not seen to grow by it. */
  const counts = async (prefix: string) => {
    const found = await read();
    const numberOf = (kind: string, what: string) =>
      found?.find((row) => row.kind === kind && row.what === what)?.n ?? 0;
    const kinds = found ? DELIVERED_KINDS : [];
    return kinds.flatMap((kind) =>
      DELIVERY_STATES.map((state) => ({ kind, state, n: numberOf(kind, prefix + state) })),
    );
  };
  const hosts = shared(figures.pendingHosts);
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

function addReviewGauge(reviews: ReviewService, registers: Registry[]): void {
  const counts = shared(async () => {
    const { day: _, ...byOutcome } = await reviews.counts(null);
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

function addInvariants({ violations }: InvariantMonitor, registers: Registry[]): void {
  new Gauge({
    name: 'docket_invariant_violations',
    help: 'Rows that break an invariant, by check of docket doctor; must be 0. Shown by one API process of all that live',
    labelNames: ['check'],
    registers,
    collect() {
      this.reset();
      for (const [check, n] of violations) this.set({ check }, n);
    },
  });
}
