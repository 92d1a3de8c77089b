import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** One line of Prometheus' text format. */
export interface Line {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Reads what `/metrics` answers. */
export function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, of]) => [key, of]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** The value of the only line with these labels among others; undefined: there is none. */
export function metric(lines: Line[], name: string, labels: Record<string, string> = {}): number | undefined {
  const found = lines.filter(
    (line) => line.name === name && Object.entries(labels).every(([key, value]) => line.labels[key] === value),
  );
  if (found.length > 1) throw new Error(`${found.length} lines of ${name} ${JSON.stringify(labels)}`);
  return found[0]?.value;
}

interface Alert {
  alert: string;
  expr: string;
  annotations: { runbook_url: string };
}

export const ALERTS = 'deploy/prometheus/alerts.yml';
const BOARD = 'deploy/grafana/docket.json';

export const alerts = (): Alert[] =>
  (parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: Alert[] }[] }).groups.flatMap(({ rules }) => rules);

interface Board {
  panels: { title: string; type: string; targets?: { expr: string }[] }[];
  templating: { list: { name: string }[] };
}

export const board = (): Board => JSON.parse(readFileSync(BOARD, 'utf8')) as Board;

/** The metrics that an expression names. */
export const metricsIn = (expr: string): string[] => [
  ...new Set(expr.match(/\b(up|(docket|temporal|nodejs|process)_\w+)\b/g) ?? []),
];
