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
  cut: Counter<'why'>;
}

/** The values of a metric by its labels. */
type Lines<L extends string> = (readonly [labels: Record<L, string>, value: number])[];

/** The metrics of an API process: its own, and those of the whole system, which are read when it is scraped. */
export function createMetrics(ctx: Context): Metrics {
  const { registry } = ctx.metrics;
  const registers = [registry];
  addSystem(ctx, registers);
  addDeliveries(ctx, registers);
  addLines('gauge', registers, {
    name: 'docket_review_log_lines_today',
    help: "Lines of all reviews' logs of this day (UTC), by outcome: callbacks, and edits by authors",
    labelNames: ['outcome'],
    async read() {
      const { day: _, ...byOutcome } = await reviews.counts(ctx, null);
      return Object.entries(byOutcome).map(([outcome, n]) => [{ outcome }, n]);
    },
  });
  addLines('gauge', registers, {
    name: 'docket_invariant_violations',
    help: 'Rows that break an invariant, by check of docket doctor; must be 0. Shown by one API process of all that live',
    labelNames: ['check'],
    read: async () => [...violations(ctx)].map(([check, n]) => [{ check }, n]),
  });
  return {
    text: shared(async () => {
      const [ofQueues, others] = await Promise.all([queueMetrics(ctx), registry.metrics()]);
      return others + ofQueues;
    }),
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
    cut: new Counter({
      name: 'docket_transfers_cut_total',
      help: 'Bodies that did not arrive and answers that were not read: late, or one caller had too many',
      labelNames: ['why'],
      registers,
    }),
  };
}

/** Shares one reading between those who ask while it is under way: the metrics of a scrape, and probes of all sorts. */
export function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

interface Described<L extends string> {
  name: string;
  help: string;
  labelNames: L[];
  read(): Promise<Lines<L>>;
}

/** Adds a metric whose lines are read at each scrape; it has none while PostgreSQL cannot be read. */
function addLines<L extends string>(
  type: 'gauge' | 'counter',
  registers: Registry[],
  { read, ...described }: Described<L>,
): void {
  // replaces all lines in one step: two scrapes may overlap
  const collect = async () => {
    const lines = await read().catch(() => []);
    metric.reset();
    for (const [labels, value] of lines) metric.inc(labels, value);
  };
  const settings = { ...described, registers, collect };
  const metric = type === 'gauge' ? new Gauge<L>(settings) : new Counter<L>(settings);
}

function addSystem(ctx: Context, registers: Registry[]): void {
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        const found = await read().catch(() => undefined);
        if (found === undefined) this.remove();
        else this.set(found);
      },
    });
  const unpublished = shared(() => figures.unpublished(ctx));
  const parked = shared(() => figures.parked(ctx));
  gauge(
    'docket_postgres_up',
    '1: this process can read from PostgreSQL; 0: metrics of the whole system are left out',
    () =>
      parked()
        .then(() => 1)
        .catch(() => 0),
  );
  gauge('docket_followed', '1: a worker publishes to the workflows', async () => Number(await figures.isFollowed(ctx)));
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
  gauge('docket_resync_rows', 'Schedules and repeated deliveries that may differ in Temporal from their rows', () =>
    figures.resync(ctx),
  );
  gauge('docket_parked_items', 'Items whose due transition fails or whose rules run out of time; must be 0', parked);
  gauge('docket_delivery_oldest_pending_seconds', 'Age of the oldest delivery that is pending', () =>
    figures.oldestDelivery(ctx),
  );
}

const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

/** Deliveries of the whole system, because workers make the attempts. */
function addDeliveries(ctx: Context, registers: Registry[]): void {
  const read = shared(() => figures.deliveries(ctx));
  /** With zeros: a counter that appears with the first failure would not show an increase. */
  const linesOf = async <L extends string>(prefix: string, label: L) => {
    const found = await read();
    const numberOf = (kind: string, what: string) => found.find((row) => row.kind === kind && row.what === what)?.n;
    const lineOf = (kind: string, state: string) =>
      [{ kind, [label]: state } as Record<'kind' | L, string>, numberOf(kind, prefix + state) ?? 0] as const;
    return DELIVERED_KINDS.flatMap((kind) => DELIVERY_STATES.map((state) => lineOf(kind, state)));
  };
  addLines('gauge', registers, {
    name: 'docket_deliveries',
    help: 'Deliveries of all processes by kind and state: pending, failed, delivered',
    labelNames: ['kind', 'state'],
    read: () => linesOf('', 'state'),
  });
  addLines('counter', registers, {
    name: 'docket_delivery_attempts_total',
    help: 'Attempts of all processes by kind and the state in which they left the delivery',
    labelNames: ['kind', 'outcome'],
    read: () => linesOf('attempt_', 'outcome'),
  });
  const hosts = shared(() => figures.pendingHosts(ctx));
  addLines('gauge', registers, {
    name: 'docket_delivery_host_pending',
    help: 'Pending deliveries by host, of the 5,000 oldest of each kind; the 50 hosts with the most of them',
    labelNames: ['host'],
    read: async () => (await hosts()).map(({ host, n }) => [{ host }, n]),
  });
  addLines('gauge', registers, {
    name: 'docket_delivery_host_oldest_seconds',
    help: 'Age of the oldest pending delivery to each of these hosts',
    labelNames: ['host'],
    read: async () => (await hosts()).map(({ host, oldest_seconds }) => [{ host }, oldest_seconds]),
  });
}
