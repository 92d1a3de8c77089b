import { CallError, unreachable } from '../../api/problem.ts';

/** Whether the stores and the workers are there. */
export interface Readiness {
  postgres: string;
  schema: string;
  temporal: string;
  /** `degraded`: Temporal is away, or no worker publishes. */
  status: 'ok' | 'degraded' | 'unavailable';
}

/** What deliveries and workflows of the whole system are doing; null where no one says. */
export interface Figures {
  /** Seconds that 99 of 100 claims of this process took at most, what they waited for work included. */
  handover: number | null;
  parked: number | null;
  pending: number | null;
  oldestPending: number | null;
  failed: number | null;
  behind: number | null;
}

/** Also its 503 is an answer. */
export async function loadReadiness(signal: AbortSignal): Promise<Readiness> {
  const response = await fetch('/readyz', { signal }).catch((cause: unknown) => {
    throw new CallError(unreachable(cause));
  });
  return (await response.json()) as Readiness;
}

export async function loadFigures(signal: AbortSignal): Promise<Figures> {
  const metrics = await fetch('/metrics', { signal })
    .then(async (response) => (response.ok ? readMetrics(await response.text()) : []))
    // a proxy may keep /metrics to itself
    .catch(() => []);
  const sum = (name: string, labels: Record<string, string> = {}) => {
    const fits = (s: Sample) => s.name === name && Object.entries(labels).every(([l, v]) => s.labels[l] === v);
    return metrics.length === 0 ? null : metrics.filter(fits).reduce((total, s) => total + s.value, 0);
  };
  return {
    handover: quantile(metrics, 0.99),
    parked: sum('docket_parked_items'),
    pending: sum('docket_deliveries', { state: 'pending' }),
    oldestPending: sum('docket_delivery_oldest_pending_seconds'),
    failed: sum('docket_deliveries', { state: 'failed' }),
    behind: sum('docket_unpublished_rows'),
  };
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Prometheus' text format, as far as this server writes it. */
function readMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (!name || line.startsWith('#')) return [];
    const named = [...labels.matchAll(LABEL)].map(([, label = '', is = '']) => [label, is]);
    return [{ name, labels: Object.fromEntries(named) as Record<string, string>, value: Number(value) }];
  });
}

const CLAIMS = /\/(claim|next)$/;

/** The bound of the bucket in which the share of all hand-overs is reached; null without any. */
function quantile(samples: Sample[], share: number): number | null {
  const buckets = new Map<number, number>();
  for (const { name, labels, value } of samples) {
    if (name !== 'docket_http_seconds_bucket' || !CLAIMS.test(labels.route ?? '')) continue;
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  const ordered = [...buckets].sort(([a], [b]) => a - b);
  const total = ordered.at(-1)?.[1] ?? 0;
  if (total === 0) return null;
  return ordered.find(([, n]) => n >= total * share)?.[0] ?? null;
}
