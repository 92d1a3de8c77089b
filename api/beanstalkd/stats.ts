import { hostname, machine, version as osVersion } from 'node:os';
import { jobStats, topicCounts, topicPause, urgentJobs } from '../../db/tubes.ts';
import { stateWord } from '../../domain/items.ts';
import { MAX_TCP_BYTES } from '../../domain/jobs.ts';
import type { Door } from './door.ts';
import type { CommandName } from './protocol.ts';
import { dictionary, NOT_FOUND, quoted, type Reply } from './replies.ts';

/** Of beanstalkd whose protocol this is, then what it is. */
const VERSION = '1.13+docket';

/** In the order in which `stats` lists them. */
const COUNTED: CommandName[] = [
  'put',
  'peek',
  'peek-ready',
  'peek-delayed',
  'peek-buried',
  'reserve',
  'reserve-with-timeout',
  'delete',
  'release',
  'use',
  'watch',
  'ignore',
  'bury',
  'kick',
  'touch',
  'stats',
  'stats-job',
  'stats-tube',
  'list-tubes',
  'list-tube-used',
  'list-tubes-watched',
  'pause-tube',
];

type Counts = Record<string, number>;

const jobsByState = (urgent: number, counts: Counts): [string, number][] => [
  ['current-jobs-urgent', urgent],
  ['current-jobs-ready', counts.ready ?? 0],
  ['current-jobs-reserved', counts.held ?? 0],
  ['current-jobs-delayed', counts.delayed ?? 0],
  ['current-jobs-buried', counts.buried ?? 0],
];

export async function jobStatsReply(door: Door, number: number): Promise<Reply> {
  const s = await jobStats(door.api.runtime.db, number);
  if (!s) return NOT_FOUND;
  return dictionary([
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
}

export async function tubeStatsReply(door: Door, name: string): Promise<Reply> {
  const { db } = door.api.runtime;
  const tube = await door.tubes.find(name);
  if (!tube) return NOT_FOUND;
  const [counts, urgent, pause] = await Promise.all([
    topicCounts(db, name),
    urgentJobs(db, name),
    topicPause(db, name),
  ]);
  return dictionary([
    ['name', quoted(name)],
    ...jobsByState(urgent, counts.get(name) ?? {}),
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

/** Jobs are counted over all processes, everything else since this one began and in it alone. */
export async function statsReply(door: Door): Promise<Reply> {
  const { db } = door.api.runtime;
  const [counts, urgent] = await Promise.all([topicCounts(db, null), urgentJobs(db, null)]);
  const sum = (what: string) => [...counts.values()].reduce((n, of) => n + (of[what] ?? 0), 0);
  const all = Object.fromEntries(['ready', 'held', 'delayed', 'buried'].map((state) => [state, sum(state)]));
  const tubes = await door.tubes.names(counts);
  return dictionary([
    ...jobsByState(urgent, all),
    ...COUNTED.map((name): [string, number] => [`cmd-${name}`, door.commands.get(name) ?? 0]),
    ['job-timeouts', sum('lease_expired') - door.timeoutsBefore],
    ['total-jobs', door.puts],
    ['max-job-size', MAX_TCP_BYTES],
    ['current-tubes', tubes.length],
    ['current-connections', door.connections],
    ['current-producers', door.producers],
    ['current-workers', door.workers],
    ['current-waiting', door.waiting],
    ['total-connections', door.connectionsEver],
    ...processStats(door),
  ]);
}

function processStats(door: Door): [string, string | number][] {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return [
    ['pid', process.pid],
    ['version', quoted(VERSION)],
    ['rusage-utime', (userCPUTime / 1e6).toFixed(6)],
    ['rusage-stime', (systemCPUTime / 1e6).toFixed(6)],
    ['uptime', Math.trunc((performance.now() - door.startedAt) / 1000)],
    // there is no binlog: the database is the store
    ['binlog-oldest-index', 0],
    ['binlog-current-index', 0],
    ['binlog-records-migrated', 0],
    ['binlog-records-written', 0],
    ['binlog-max-size', 0],
    ['draining', String(door.draining)],
    ['id', door.id],
    ['hostname', quoted(hostname())],
    ['os', quoted(osVersion())],
    ['platform', quoted(machine())],
  ];
}

/** What `job-timeouts` counts from. */
export async function timeoutsSoFar(door: Door): Promise<number> {
  const counts = await topicCounts(door.api.runtime.db, null);
  return [...counts.values()].reduce((n, of) => n + (of.lease_expired ?? 0), 0);
}
