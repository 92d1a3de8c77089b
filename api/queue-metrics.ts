import { setImmediate as breath } from 'node:timers/promises';
import type { Kind } from '../contract/snapshot.ts';
import type { RowOf } from '../db/pool.ts';
import { transitionsOf } from '../domain/lifecycle.ts';
import { MOST_NAMES, OTHERS } from '../runtime/metrics.ts';
import * as figures from '../services/figures/figures.ts';
import type { Context } from '../services/shared/context.ts';

type Row = RowOf<'queue_metrics'>;

interface Family {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  /** The lines of one row, each with the labels that follow `kind` and `queue`. */
  lines(row: Row): [labels: string, value: number][];
}

const OPEN = ['delayed', 'ready', 'held', 'buried'] as const;
const ENDED = ['settled', 'invalidated', 'expired', 'dead'] as const;

/** Whether items of a kind can be in a state; other states have no lines. */
const isKnown = (kind: Kind, state: string) => transitionsOf(kind).some(({ to }) => to === state);
const KNOWN = new Map((['ticket', 'job', 'case', 'task', 'rotation'] as const).map((kind) => [kind, statesOf(kind)]));

function statesOf(kind: Kind) {
  const among = <S extends string>(states: readonly S[]) => states.filter((state) => isKnown(kind, state));
  return { open: among(OPEN), ended: among(ENDED) };
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
  [...OPEN, ...ENDED, 'added' as const, 'lapsed' as const].every((what) => row[what] === 0);
const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

/** Rows that are written before the event loop may handle calls. */
const AT_ONCE = 100;

/**
 * The counts of all queues in Prometheus' text format; empty where PostgreSQL cannot be read. Written here in parts,
 * because prom-client would block calls for a tenth of a second in each scrape with a thousand queues.
 */
export async function queueMetrics(ctx: Context): Promise<string> {
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
