import { hostname, machine, version as osVersion } from 'node:os';
import type { RowOf } from '../../db/pool.ts';
import { stateWord } from '../../domain/items.ts';
import { MAX_TCP_BYTES } from '../../domain/jobs.ts';
import * as topics from '../../services/jobs/topics.ts';
import type { Listener } from './listener.ts';
import { type CommandName, dictionary, NOT_FOUND, quoted, type Reply } from './protocol.ts';

/** beanstalkd's version, whose protocol this is, and the product's name. */
const VERSION = '1.13+docket';

/** In the order in which `stats` lists them. */
const COUNTED: CommandName[] = [
  ...(['put', 'peek', 'peek-ready', 'peek-delayed', 'peek-buried', 'reserve', 'reserve-with-timeout'] as const),
  ...(['delete', 'release', 'use', 'watch', 'ignore', 'bury', 'kick', 'touch', 'stats', 'stats-job'] as const),
  ...(['stats-tube', 'list-tubes', 'list-tube-used', 'list-tubes-watched', 'pause-tube'] as const),
];

const BINLOG = ['oldest-index', 'current-index', 'records-migrated', 'records-written', 'max-size'];

const jobsByState = (urgent: number, counts: topics.TopicCounts): [string, number][] => [
  ['current-jobs-urgent', urgent],
  ['current-jobs-ready', counts.ready ?? 0],
  ['current-jobs-reserved', counts.held ?? 0],
  ['current-jobs-delayed', counts.delayed ?? 0],
  ['current-jobs-buried', counts.buried ?? 0],
];

export const jobStatsReply = (s: RowOf<'job_stats'>): Reply =>
  dictionary([
    ['id', s.seq],
    ['tube', quoted(s.queue)],
    ['state', stateWord('job', s.state)],
    ['pri', s.priority],
    ['age', Math.trunc(s.age)],
    ['delay', Math.trunc(s.delay_seconds)],
    ['ttr', Math.trunc(s.lease_seconds)],
    ['time-left', Math.trunc(s.time_left)],
    ['file', 0],
    ['reserves', s.attempts],
    ['timeouts', s.timeouts],
    ['releases', s.releases],
    ['buries', s.buries],
    ['kicks', s.kicks],
  ]);

export async function tubeStatsReply(listener: Listener, name: string): Promise<Reply> {
  const tube = await listener.tubes.find(name);
  if (!tube) return NOT_FOUND;
  const { counts, urgent, pause } = await topics.tubeStats(listener.api.ctx, name);
  return dictionary([
    ['name', quoted(name)],
    ...jobsByState(urgent, counts),
    ['total-jobs', tube.puts],
    ['current-using', tube.using],
    ['current-watching', tube.watching],
    ['current-waiting', tube.waiting],
    ['cmd-delete', tube.deletes],
    ['cmd-pause-tube', tube.pauses],
    ['pause', Math.trunc(pause?.seconds ?? 0)],
    ['pause-time-left', Math.trunc(pause?.left ?? 0)],
  ]);
}

/** Jobs are counted over all processes, everything else in this process since its start. */
export async function statsReply(listener: Listener): Promise<Reply> {
  const { ctx } = listener.api;
  const [counts, urgent] = await Promise.all([topics.counts(ctx), topics.urgent(ctx)]);
  const sum = (what: string) => [...counts.values()].reduce((n, of) => n + (of[what] ?? 0), 0);
  const all = Object.fromEntries(['ready', 'held', 'delayed', 'buried'].map((state) => [state, sum(state)]));
  const tubes = await listener.tubes.names(counts);
  return dictionary([
    ...jobsByState(urgent, all),
    ...COUNTED.map((name): [string, number] => [`cmd-${name}`, listener.commands.get(name) ?? 0]),
    ['job-timeouts', sum('lease_expired') - listener.timeoutsBefore],
    ['total-jobs', listener.puts],
    ['max-job-size', MAX_TCP_BYTES],
    ['current-tubes', tubes.length],
    ['current-connections', listener.connections],
    ['current-producers', listener.producers],
    ['current-workers', listener.workers],
    ['current-waiting', listener.waiting],
    ['total-connections', listener.connectionsEver],
    ...processStats(listener),
  ]);
}

function processStats(listener: Listener): [string, string | number][] {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return [
    ['pid', process.pid],
    ['version', quoted(VERSION)],
    ['rusage-utime', (userCPUTime / 1e6).toFixed(6)],
    ['rusage-stime', (systemCPUTime / 1e6).toFixed(6)],
    ['uptime', Math.trunc((performance.now() - listener.startedAt) / 1000)],
    // there is no binlog: the database is the store
    ...BINLOG.map((name): [string, number] => [`binlog-${name}`, 0]),
    ['draining', String(listener.draining)],
    ['id', listener.id],
    ['hostname', quoted(hostname())],
    ['os', quoted(osVersion())],
    ['platform', quoted(machine())],
  ];
}
