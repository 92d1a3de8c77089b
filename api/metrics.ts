import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Runtime } from '../runtime/runtime.ts';
import type { FigureService } from '../services/figures.ts';
import type { InvariantMonitor } from '../services/invariants.ts';
import type { ReviewService } from '../services/reviews.ts';
import type { Services } from '../services/services.ts';

export interface Metrics {
  registry: Registry;
  calls: Histogram<'method' | 'route' | 'status'>;
  /** Counts what was newly handed out. */
  handedOut(queue: string, items: number): void;
  refused: Counter<'code'>;
}

/** Queues with a line of their own: their names are the callers', and each line costs memory and a place in every scrape. */
const MOST_QUEUES = 1_000;
/** No queue can be called that. */
const OTHERS = '(others)';

/** What `GET /metrics` shows, in Prometheus' words. */
export function createMetrics(runtime: Runtime, { figures, reviews, invariants }: Services): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ node: runtime.node });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  addGauges(runtime, figures, registers);
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
    handedOut: countPerQueue(
      new Counter({
        name: 'docket_handed_out_total',
        help: `Items newly handed out by this process; beyond ${MOST_QUEUES} queues the others together as ${OTHERS}`,
        labelNames: ['queue'],
        registers,
      }),
    ),
    refused: new Counter({
      name: 'docket_refused_total',
      help: 'Problems answered, by code',
      labelNames: ['code'],
      registers,
    }),
  };
}

function countPerQueue(counter: Counter<'queue'>): Metrics['handedOut'] {
  const known = new Set<string>();
  return (queue, items) => {
    if (known.size < MOST_QUEUES) known.add(queue);
    counter.inc({ queue: known.has(queue) ? queue : OTHERS }, items);
  };
}

function addReviewGauge(reviews: ReviewService, registers: Registry[]): void {
  new Gauge({
    name: 'docket_review_log_lines_today',
    help: "Lines of all reviews' logs of this day (UTC), by outcome: callbacks, and edits by authors",
    labelNames: ['outcome'],
    registers,
    async collect() {
      const { day, ...counts } = await reviews.counts(null);
      for (const [outcome, n] of Object.entries(counts)) this.set({ outcome }, n);
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

/** Of this process, and of the whole system, which is read when it is asked for. */
function addGauges({ follower, waiters }: Runtime, figures: FigureService, registers: Registry[]): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        this.set(await read());
      },
    });
  if (follower) {
    gauge(
      'docket_publishing_items',
      'Items that this process is to publish to their workflows',
      () => follower.pending,
    );
    gauge('docket_not_started_items', 'Items that were over for too long to get a workflow', () => follower.skipped);
    gauge('docket_temporal_down', '1 while this process cannot publish to Temporal', () => (follower.down ? 1 : 0));
  }
  // one reading for both of its figures: a scrape collects all gauges at once
  let reading: ReturnType<FigureService['unpublished']> | undefined;
  const unpublished = () => {
    reading ??= figures.unpublished().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  gauge('docket_waiting_callers', 'Long polls', () => waiters.size);
  gauge(
    'docket_unpublished_rows',
    'Lines of the log behind the slowest lane of publishing; estimated from 10,000 on',
    async () => (await unpublished()).waiting,
  );
  gauge(
    'docket_unpublished_oldest_seconds',
    'Age of the oldest of them',
    async () => (await unpublished()).oldest_seconds,
  );
  gauge(
    'docket_resync_rows',
    'Schedules and repeated deliveries that Temporal may have otherwise than their rows say',
    figures.resync,
  );
  gauge('docket_parked_items', 'Items whose due transition fails; must be 0', figures.parked);
  gauge('docket_delivery_oldest_pending_seconds', 'Age of the oldest delivery that is pending', figures.oldestDelivery);
}

const ATTEMPT = 'attempt_';

/** Of the whole system, not of this process: workers that make attempts may have no `/metrics` of their own. */
function addDeliveries(figures: FigureService, registers: Registry[]): void {
  new Gauge({
    name: 'docket_deliveries',
    help: 'Deliveries of all processes by kind and state: pending, failed, delivered',
    labelNames: ['kind', 'state'],
    registers,
    async collect() {
      this.reset();
      for (const { kind, what, n } of await figures.deliveries())
        if (!what.startsWith(ATTEMPT)) this.set({ kind, state: what }, n);
    },
  });
  new Counter({
    name: 'docket_delivery_attempts_total',
    help: 'Attempts of all processes by kind and the state in which they left the delivery',
    labelNames: ['kind', 'outcome'],
    registers,
    async collect() {
      this.reset();
      for (const { kind, what, n } of await figures.deliveries())
        if (what.startsWith(ATTEMPT)) this.inc({ kind, outcome: what.slice(ATTEMPT.length) }, n);
    },
  });
}
