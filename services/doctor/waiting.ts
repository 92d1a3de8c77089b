import { only } from '../../db/pool.ts';
import { spanOf } from '../../domain/spans.ts';
import type { Check, Found } from './checks.ts';

/** Violations of one check that are listed. */
const MOST = 1_000;
/** Queues with a target that are examined, and the number of late ones that are shown. */
const MOST_TARGETS = 5_000;
const MOST_LATE = 50;

/** Checks for items that wait too long, and for those that were given up. */
export const WAITING_CHECKS: readonly Check[] = [
  {
    name: 'overdue',
    severity: 'warning',
    rule: 'what is due is done by one of the two clocks',
    advice:
      'Start a process with DOCKET_PACEMAKER=on, and look at what PostgreSQL is busy with: neither clock keeps up.',
    async look({ db, limits: { overdueSeconds: seconds } }) {
      const nobody = (await db.run('live_nodes')).length === 0;
      const found = await db.run('overdue_items', { seconds, limit: MOST });
      const advice = nobody && { advice: 'No process of Docket is alive: start one.' };
      return found.map(({ id, seconds }) => ({ id, says: `due for ${spanOf(seconds)}`, ...advice }));
    },
  },
  {
    name: 'parked',
    severity: 'broken',
    rule: 'the transition of each item that is due succeeds, and rules are evaluated in time',
    advice:
      'Remove the cause that the error names; each is tried again, tickets as soon as the rules of their queue are changed.',
    async look({ db }) {
      const rows = await db.run('list_parked', { rules: true, limit: MOST });
      return rows.map(({ kind, item_id, error }) => ({ id: `${kind}/${item_id}`, says: error }));
    },
  },
  {
    name: 'late',
    severity: 'warning',
    rule: 'no queue lets its oldest wait beyond its `serviceSeconds`, else its first escalation, else three quarters of its deadline',
    advice:
      'Resume the queue, find someone who claims what waits, or ask POST /v1/queues/<queue>/explain why they get nothing.',
    async look({ db }) {
      const queues = await db.run('late_queues', { queues: MOST_TARGETS, limit: MOST_LATE });
      const paused = await db.run('paused_queues', { limit: MOST });
      const found: Found[] = [];
      for (const { kind, name, oldest_seconds, target_seconds } of queues) {
        const [stats] = await db.run('queue_stats', { kind, names: [name] });
        const isPaused = paused.some((queue) => queue.kind === kind && queue.name === name);
        const claims = stats?.claims_per_minute ?? 0;
        const why = isPaused ? 'it is paused' : claims > 0 ? `only ${claims} a minute are claimed` : 'no one claims';
        const [oldest, target] = [spanOf(oldest_seconds), spanOf(target_seconds)];
        found.push({ id: `${kind}/${name}`, says: `the oldest has waited ${oldest} instead of ${target}, and ${why}` });
      }
      return found;
    },
  },
  {
    name: 'unpublished',
    severity: 'warning',
    rule: 'workflows receive what happens within a minute',
    advice:
      'Wait if many items were added; else see whether Temporal answers, and docket_unpublished_rows whether it falls.',
    async look({ db, limits }) {
      const { followed } = only(await db.run('is_followed'));
      const { waiting: n, oldest_seconds } = only(await db.run('publishing_lag'));
      if (oldest_seconds < limits.unpublishedSeconds) return [];
      const says = `the oldest line has waited for ${spanOf(oldest_seconds)}`;
      return [{ id: 'log', n, says, ...(!followed && { advice: 'No worker follows the log: start one.' }) }];
    },
  },
  {
    name: 'chores',
    severity: 'warning',
    rule: 'schedules, invitations, rules and settings are taken care of within minutes',
    advice: 'See that processes run and that Temporal answers: what is left is done by the next that can.',
    look: ({ db, limits }) => db.run('late_chores', { seconds: limits.choreSeconds, limit: MOST }),
  },
  {
    name: 'receivers',
    severity: 'warning',
    rule: 'receivers of outcomes answer',
    advice: 'Ask whoever runs the receiver; GET /v1/deliveries?host=<host>&state=pending lists what it has not taken.',
    async look({ db, limits: { attempts } }) {
      const found = await db.run('stuck_receivers', { attempts, limit: MOST });
      return found.map(({ seconds, last, ...of }) => ({
        ...of,
        says: `pending for up to ${spanOf(seconds)}, last: ${last}`,
      }));
    },
  },
  {
    name: 'dead-letters',
    severity: 'warning',
    rule: 'no job is buried, no ticket dead, no delivery given up',
    advice:
      'Kick or delete buried jobs, send failed deliveries again (GET /v1/deliveries?state=failed); dead tickets stay as they are.',
    look: ({ db }) => db.run('dead_letters', { limit: MOST }),
  },
];
