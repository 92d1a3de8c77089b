import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { deliveryCounts, oldestPendingSeconds } from '../db/deliveries.ts';
import { resyncCount } from '../db/reconcile.ts';
import { reviewCounts } from '../db/reviews.ts';
import { outboxLag, parkedCount } from '../db/runtime.ts';
import type { Runtime } from '../runtime/runtime.ts';

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
export function createMetrics(engine: Runtime): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ node: engine.node });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  addGauges(engine, registers);
  addDeliveries(engine, registers);
  addReviewGauge(engine, registers);
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

function addReviewGauge(engine: Runtime, registers: Registry[]): void {
  new Gauge({
    name: 'docket_review_log_lines_today',
    help: "Lines of all reviews' logs of this day (UTC), by outcome: callbacks, and edits by authors",
    labelNames: ['outcome'],
    registers,
    async collect() {
      const { day, ...counts } = await reviewCounts(engine.db.lists, null);
      for (const [outcome, n] of Object.entries(counts)) this.set({ outcome }, n);
    },
  });
}

/** What is read at the moment somebody asks. */
function addGauges(engine: Runtime, registers: Registry[]): void {
  new Gauge({
    name: 'docket_outbox_rows',
    help: 'Transitions that no workflow has heard of yet; estimated from 10,000 on',
    registers,
    async collect() {
      this.set((await outboxLag(engine.db.lists)).waiting);
    },
  });
  new Gauge({
    name: 'docket_outbox_oldest_seconds',
    help: 'Age of the oldest of them',
    registers,
    async collect() {
      this.set((await outboxLag(engine.db.lists)).oldest_seconds);
    },
  });
  new Gauge({
    name: 'docket_resync_rows',
    help: 'Schedules and repeated deliveries that Temporal may have otherwise than their rows say',
    registers,
    async collect() {
      this.set(await resyncCount(engine.db.lists));
    },
  });
  new Gauge({
    name: 'docket_parked_items',
    help: 'Items whose due transition fails; must be 0',
    registers,
    async collect() {
      this.set(await parkedCount(engine.db.lists));
    },
  });
  new Gauge({
    name: 'docket_relay_pending',
    help: 'Items this process has yet to tell to their workflows',
    registers,
    collect() {
      this.set(engine.relay.pending);
    },
  });
  new Gauge({
    name: 'docket_temporal_down',
    help: '1 while this process cannot reach Temporal',
    registers,
    collect() {
      this.set(engine.relay.down ? 1 : 0);
    },
  });
  new Gauge({
    name: 'docket_waiting_callers',
    help: 'Long polls',
    registers,
    collect() {
      this.set(engine.waiters.size);
    },
  });
}

const ATTEMPT = 'attempt_';

/** Of the whole system, not of this process: workers that make attempts may have no `/metrics` of their own. */
function addDeliveries({ db: { lists: db } }: Runtime, registers: Registry[]): void {
  new Gauge({
    name: 'docket_deliveries',
    help: 'Deliveries of all processes by kind and state: pending, failed, delivered',
    labelNames: ['kind', 'state'],
    registers,
    async collect() {
      this.reset();
      for (const { kind, what, n } of await deliveryCounts(db))
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
      for (const { kind, what, n } of await deliveryCounts(db))
        if (what.startsWith(ATTEMPT)) this.inc({ kind, outcome: what.slice(ATTEMPT.length) }, n);
    },
  });
  new Gauge({
    name: 'docket_delivery_oldest_pending_seconds',
    help: 'Age of the oldest delivery that is pending',
    registers,
    async collect() {
      this.set(await oldestPendingSeconds(db));
    },
  });
}
