import { setImmediate as breath } from 'node:timers/promises';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DELIVERED_KINDS } from '../contract/kinds.ts';
import type { Kind } from '../contract/snapshot.ts';
import type { RowOf } from '../db/pool.ts';
import { FINAL_STATES, OPEN_STATES } from '../domain/items.ts';
import { transitionsOf } from '../domain/lifecycle.ts';
import { MOST_NAMES, OTHERS } from '../runtime/metrics.ts';
import { violations } from '../services/doctor/invariants.ts';
import * as figures from '../services/figures/figures.ts';
import * as reviews from '../services/reviews/reviews.ts';
import type { Context } from '../services/shared/service.ts';

export type Metrics = ReturnType<typeof createMetrics>;

type Lines<L extends string> = (readonly [labels: Record<L, string>, value: number])[];

/** The metrics of an API process: its own, and those of the whole system, which are read when it is scraped. */
export function createMetrics(ctx: Context) {
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
    /** All of them in Prometheus' text format. */
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
  const parked = shared(() => figures.parked(ctx, true));
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

type Row = RowOf<'queue_metrics'>;

interface Family {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  /** The lines of one row, each with the labels that follow `kind` and `queue`. */
  lines(row: Row): [labels: string, value: number][];
}

/** Whether items of a kind can be in a state; other states have no lines. */
const isKnown = (kind: Kind, state: string) => transitionsOf(kind).some(({ to }) => to === state);
const KNOWN = new Map((['ticket', 'job', 'case', 'task', 'rotation'] as const).map((kind) => [kind, statesOf(kind)]));

function statesOf(kind: Kind) {
  const among = <S extends string>(states: readonly S[]) => states.filter((state) => isKnown(kind, state));
  return { open: among(OPEN_STATES), ended: among(FINAL_STATES) };
}

/** Metrics of queues, topics, courts and groups. All API processes show the same: take the maximum over them. */
const FAMILIES: readonly Family[] = [
  {
    name: 'docket_items',
    type: 'gauge',
    help: `Open items by state, of the ${MOST_NAMES} queues, topics, courts and groups that were made first; the others of a kind together as ${OTHERS}, a minute old`,
    lines: (row) => (KNOWN.get(row.kind)?.open ?? []).map((state) => [`,state="${state}"`, row[state]]),
  },
  {
    name: 'docket_oldest_ready_seconds',
    type: 'gauge',
    help: 'For how long the oldest item that could be handed out has waited; 0: there is none',
    lines: (row) => (row.queue === null ? [] : [['', row.oldest_seconds ?? 0]]),
  },
  {
    name: 'docket_overdue_tickets',
    type: 'gauge',
    help: 'Open tickets beyond the target of their queue (serviceSeconds), counted up to 1,000',
    lines: ({ overdue }) => (overdue === null ? [] : [['', overdue]]),
  },
  {
    name: 'docket_added_total',
    type: 'counter',
    help: 'Items added, or moved here from another queue',
    lines: ({ added }) => [['', added]],
  },
  {
    name: 'docket_ended_total',
    type: 'counter',
    help: 'Items that ended, by the state in which they did',
    lines: (row) => (KNOWN.get(row.kind)?.ended ?? []).map((state) => [`,outcome="${state}"`, row[state]]),
  },
  {
    name: 'docket_lease_expiries_total',
    type: 'counter',
    help: 'Leases that ran out',
    lines: ({ lapsed }) => [['', lapsed]],
  },
];

const isNothing = (row: Row) =>
  [...OPEN_STATES, ...FINAL_STATES, 'added' as const, 'lapsed' as const].every((what) => row[what] === 0);
const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

/** Rows that are written before the event loop may handle calls. */
const AT_ONCE = 100;

/**
 * The counts of all queues in Prometheus' text format; empty where PostgreSQL cannot be read. Written here in parts,
 * because prom-client would block calls for a tenth of a second in each scrape with a thousand queues.
 */
async function queueMetrics(ctx: Context): Promise<string> {
  const found = await figures.queues(ctx, MOST_NAMES).catch(() => undefined);
  if (!found) return '';
  // users without a group count among the others: no line where there are none
  const rows = found
    .filter((row) => row.queue !== null || !isNothing(row))
    .map((row) => ({ row, labels: `kind="${row.kind}",queue="${escaped(row.queue ?? OTHERS)}"` }));
  let text = '';
  for (const { name, type, help, lines } of FAMILIES) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const [n, { row, labels }] of rows.entries()) {
      for (const [more, value] of lines(row)) text += `${name}{${labels}${more}} ${value}\n`;
      if (n % AT_ONCE === AT_ONCE - 1) await breath();
    }
  }
  return text;
}
