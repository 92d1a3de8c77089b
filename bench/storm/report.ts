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
const table = (head: string[], rows: (string | number)[][]) =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => (typeof cell === 'number' ? number(cell) : cell)).join(' | ')} |`)
    .join('\n');

/** Columns of the table of storms. */
const COLUMNS: Record<string, (row: Row) => string | number> = {
  seed: ({ seed }) => String(seed),
  commit: ({ commit, from }) => (from === undefined ? commit : `${from} → ${commit}`),
  Temporal: ({ temporal }) => temporal,
  minutes: ({ minutes }) => minutes,
  'calls ok': ({ calls }) => calls.ok,
  refused: ({ calls }) => calls.refused,
  unknown: ({ calls }) => calls.unknown,
  faults: ({ faults }) => sum(Object.values(faults)),
  found: ({ verdicts }) => sum(Object.values(verdicts).map(([found]) => found)),
  'leases that ran out': ({ seen }) => seen['leases that ran out'],
  'late calls refused': ({ seen }) => seen['late calls refused'],
  'callbacks repeated': ({ seen }) => seen['callbacks delivered more than once'],
  'unknown, had happened': ({ seen }) => seen['unknown, and had happened'],
  'had not': ({ seen }) => seen['unknown, and had not'],
  'late, ms: p50 / p99 / most': ({ seen }) => seen.lateMs.map(number).join(' / '),
  'drained in, s': ({ drainSeconds }) => drainSeconds.toFixed(0),
};

/** @returns the tables of all storms, in Markdown */
function tablesOf(rows: Row[]): string {
  const namesIn = (of: 'verdicts' | 'faults') => [...new Set(rows.flatMap((row) => Object.keys(row[of])))];
  const checked = namesIn('verdicts').map((name) => {
    const all = rows.map(({ verdicts }): [number, number] => verdicts[name] ?? [0, 0]);
    return [name, sum(all.map(([found]) => found)), sum(all.map(([, of]) => of))];
  });
  const faults = namesIn('faults')
    .sort()
    .map((name) => [name, sum(rows.map((row) => row.faults[name] ?? 0))]);
  const storms = rows.map((row) => Object.values(COLUMNS).map((cell) => cell(row)));
  return [
    table(['checked', 'found', 'of'], checked),
    table(['fault', 'times'], faults),
    table(Object.keys(COLUMNS), storms),
  ].join('\n\n');
}
