import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { StormResult } from './storm.ts';

/** What stays of a storm; the table is made of these. */
export interface Row {
  seed: number;
  /** Where files differ from it, with a `+`. */
  commit: string;
  /** The release that it began with, if another one. */
  from?: string | undefined;
  /** Which of Temporal's servers. */
  temporal: 'development' | 'server';
  minutes: number;
  calls: StormResult['calls'];
  faults: StormResult['faults'];
  /** By checker: how many were found, of how many. */
  verdicts: Record<string, [found: number, of: number]>;
  seen: StormResult['seen'];
  drainSeconds: number;
}

const RESULTS = fileURLToPath(new URL('results.json', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../docs/storm.md', import.meta.url));
const [BEGIN, END] = ['<!-- written by npm run storm -- --write: begin -->', '<!-- end -->'];

export const rowOf = ({ verdicts, ...result }: StormResult, what: Pick<Row, 'commit' | 'from' | 'temporal'>): Row => ({
  ...{ ...result, ...what },
  verdicts: Object.fromEntries(Object.entries(verdicts).map(([name, { found, of }]) => [name, [found.length, of]])),
});

/** Adds a storm to the document: all that were run stay in it, those that failed too. */
export function addToTable(row: Row): void {
  const rows: Row[] = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
  rows.push(row);
  writeFileSync(RESULTS, `${JSON.stringify(rows, null, 2)}\n`);
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before = '', rest = ''] = text.split(BEGIN);
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n\n${tablesOf(rows)}\n${END}${rest.split(END)[1] ?? ''}`);
}

const number = (n: number) => n.toLocaleString('en');
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
const table = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** @returns the tables of all storms, in Markdown */
function tablesOf(rows: Row[]): string {
  const names = [...new Set(rows.flatMap(({ verdicts }) => Object.keys(verdicts)))];
  const checked = names.map((name) => {
    const all = rows.map(({ verdicts }): [number, number] => verdicts[name] ?? [0, 0]);
    return [name, number(sum(all.map(([found]) => found))), number(sum(all.map(([, of]) => of)))];
  });
  const faults = [...new Set(rows.flatMap((row) => Object.keys(row.faults)))].sort();
  const storms = rows.map((row) => [
    ...[String(row.seed), row.from === undefined ? row.commit : `${row.from} → ${row.commit}`],
    ...[row.temporal, String(row.minutes)],
    ...[row.calls.ok, row.calls.refused, row.calls.unknown, sum(Object.values(row.faults))].map(number),
    ...[sum(Object.values(row.verdicts).map(([found]) => found)), row.seen['leases that ran out']].map(number),
    ...[row.seen['late calls refused'], row.seen['callbacks delivered more than once']].map(number),
    ...[row.seen['unknown, and had happened'], row.seen['unknown, and had not']].map(number),
    ...[row.seen.lateMs.map(number).join(' / '), row.drainSeconds.toFixed(0)],
  ]);
  return [
    table(['checked', 'found', 'of'], checked),
    table(
      ['fault', 'times'],
      faults.map((name) => [name, number(sum(rows.map((row) => row.faults[name] ?? 0)))]),
    ),
    table(
      [
        ...[
          'seed',
          'commit',
          'Temporal',
          'minutes',
          'calls ok',
          'refused',
          'unknown',
          'faults',
          'found',
          'leases that ran out',
        ],
        ...['late calls refused', 'callbacks repeated', 'unknown, had happened', 'had not'],
        ...['late, ms: p50 / p99 / most', 'drained in, s'],
      ],
      storms,
    ),
  ].join('\n\n');
}
