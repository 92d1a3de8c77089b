import { duration } from '../../components/format.ts';
import type { Texts } from '../../texts/en.ts';
import type { CourtEntry, QueueEntry, TopicEntry } from './lists.ts';
import type { Figures, Readiness } from './system.ts';

export interface Alert {
  tone: 'bad' | 'warn';
  text: string;
}

interface Seen {
  readiness: Readiness | undefined;
  figures: Figures | undefined;
  queues: QueueEntry[];
  topics: TopicEntry[];
  courts: CourtEntry[];
}

/** Where settings name no target: after that, someone should look. */
const OLD_SECONDS = 3_600;
const PENDING_SECONDS = 300;

/** What someone should look at, what is worst first. */
export function alertsOf({ readiness, figures, queues, topics, courts }: Seen, t: Texts['home']['alerts']): Alert[] {
  const found = [
    ...(readiness ? readinessAlerts(readiness, t) : []),
    ...(figures ? figureAlerts(figures, t) : []),
    ...onePerName(queues).flatMap((entry) => queueAlerts(entry, t)),
    ...topics.flatMap(({ item, stats }) =>
      stats && stats.buried > 0 ? [warn(t.buried(item.name, stats.buried))] : [],
    ),
    ...courts.flatMap(({ item, stats }) => (stats && stats.hung > 0 ? [warn(t.hung(item.name, stats.hung))] : [])),
  ];
  return found.sort((a, b) => (a.tone === b.tone ? 0 : a.tone === 'bad' ? -1 : 1));
}

const onePerName = (all: QueueEntry[]) => [...new Map(all.map((entry) => [entry.item.name, entry])).values()];

const bad = (text: string): Alert => ({ tone: 'bad', text });
const warn = (text: string): Alert => ({ tone: 'warn', text });

function readinessAlerts(s: Readiness, t: Texts['home']['alerts']): Alert[] {
  const found: Alert[] = [];
  if (s.postgres !== 'ok') found.push(bad(t.postgres));
  else if (s.schema !== 'ok') found.push(bad(t.schema));
  if (s.temporal !== 'ok') found.push(bad(t.temporal));
  else if (s.status === 'degraded') found.push(bad(t.worker));
  return found;
}

function figureAlerts(s: Figures, t: Texts['home']['alerts']): Alert[] {
  const found: Alert[] = [];
  if (s.parked) found.push(bad(t.parked(s.parked)));
  if (s.failed) found.push(bad(t.failed(s.failed)));
  if (s.oldestPending && s.oldestPending > PENDING_SECONDS) found.push(warn(t.pending(duration(s.oldestPending))));
  return found;
}

function queueAlerts({ item, stats }: QueueEntry, t: Texts['home']['alerts']): Alert[] {
  if (!stats) return [];
  const found: Alert[] = [];
  const { oldestWaitingSeconds: oldest, waiting, dead } = stats;
  const targets = [...(item.escalations ?? []).map((e) => e.afterSeconds), item.deadlineSeconds ?? OLD_SECONDS];
  if (oldest !== null && oldest > Math.min(...targets)) found.push(warn(t.oldest(item.name, duration(oldest))));
  if (item.paused && waiting > 0) found.push(warn(t.paused(item.name, waiting)));
  if (dead > 0) found.push(warn(t.dead(item.name, dead)));
  return found;
}
