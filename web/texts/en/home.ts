import { plural } from './plural.ts';

const count = (n: number, one: string, several: string) => plural(n.toLocaleString('en'), one, several);

/** The overview. */
export const home = {
  attention: 'Needs attention',
  moreAlerts: (n: number) => `${n.toLocaleString('en')} more`,
  allGood: 'Nothing needs attention.',
  system: 'System',
  queues: 'Review queues',
  topics: 'Job topics',
  courts: 'Courts',
  groups: 'Groups',
  none: {
    ticket: 'No queue yet. A queue appears with its first ticket.',
    job: 'No topic yet. A topic appears with its first job.',
    case: 'No court yet. An administrator creates one in the settings.',
    task: 'No group yet. A group is created for tasks that its members pull.',
  },
  columns: {
    oldest: 'Oldest',
    claims: 'Claims/min',
    pops: 'Pops/min',
    verdicts: 'Verdicts/min',
    expiries: 'Expired leases',
    timeouts: 'Timeouts',
    failed: 'Failed deliveries',
  },
  engines: {
    postgres: 'PostgreSQL',
    temporal: 'Temporal',
    workers: 'Workers',
    behind: 'Publishing behind by',
    handover: '99 of 100 claimed within (last 5 min)',
    pending: 'Oldest pending delivery',
    failed: 'Failed deliveries',
    parked: 'Parked items',
    overdue: 'Tickets beyond their target',
  },
  words: { ok: 'OK', unreachable: 'Unreachable' },
  alerts: {
    temporal: 'Temporal cannot be reached: claims and decisions go on, callbacks wait.',
    worker: 'No worker publishes: callbacks and timers of workflows wait.',
    failed: (n: number) =>
      `${count(n, 'delivery has', 'deliveries have')} failed for good: the receiver did not get the outcome.`,
    parked: (n: number) => `${count(n, 'item is', 'items are')} parked: the next step fails again and again.`,
    behind: (n: number, age: string) =>
      `Publishing is behind by ${age}: Temporal has yet to receive ${count(n, 'change', 'changes')}. Outcomes go first.`,
    pending: (age: string) => `The oldest delivery has been pending for ${age}.`,
    oldest: (age: string, target: string) => `the oldest item has been waiting for ${age}, the target is ${target}.`,
    paused: (n: number) => `paused while ${count(n, 'item waits', 'items wait')}.`,
    reviews: 'Reviews',
    toPending: 'Pending deliveries',
  },
};
