import type { Runtime } from '../runtime/runtime.ts';
import { adminLogService } from './admin-log.ts';
import { caseService } from './cases.ts';
import { commandService } from './commands.ts';
import { courtService } from './courts.ts';
import { deliveryService } from './deliveries.ts';
import { dispatchService } from './dispatches.ts';
import { feedService } from './feed.ts';
import { figureService } from './figures.ts';
import { goldService } from './gold.ts';
import { groupService } from './groups.ts';
import { InvariantMonitor } from './invariants.ts';
import { Invitations } from './invitations.ts';
import { itemService } from './items.ts';
import { jobService } from './jobs.ts';
import { jurorService } from './jurors.ts';
import { keyService } from './keys.ts';
import { noteService } from './notes.ts';
import { type OpenIdConfig, openIdService } from './open-id.ts';
import { outcomeService } from './outcomes.ts';
import { queueService } from './queues.ts';
import { Reconciler } from './reconciler.ts';
import { Retention, type RetentionConfig } from './retention.ts';
import { reviewService } from './reviews.ts';
import { Rules } from './rules.ts';
import { sampleService } from './samples.ts';
import { scheduleService } from './schedules.ts';
import { sessionService } from './sessions.ts';
import { applySettings } from './settings.ts';
import { restartStuckReviews } from './stuck-reviews.ts';
import { type TaskConfig, taskService } from './tasks.ts';
import { templateService } from './templates.ts';
import { ticketService } from './tickets.ts';
import { topicService } from './topics.ts';

export interface ServiceConfig extends TaskConfig, RetentionConfig {
  /** How long Temporal lets a workflow's id be, in bytes. */
  temporalMaxIdBytes: number;
  /** How far ahead of the database's clock an audit time may be (S1.4). */
  auditSkewSeconds: number;
  /** Where people sign in; undefined: with keys only. */
  openId: OpenIdConfig | undefined;
}

/** What Docket does, a service for each noun. Transports check, authorise, call one of their functions and show. */
export type Services = ReturnType<typeof createServices>;

export function createServices(runtime: Runtime, config: ServiceConfig) {
  const rules = new Rules(runtime);
  const invitations = new Invitations(runtime);
  const reconciler = new Reconciler(runtime);
  const invariants = new InvariantMonitor(runtime);
  const retention = new Retention(runtime, config);
  restartStuckReviews(runtime);
  const items = itemService(runtime, rules);
  const queues = queueService(runtime, rules);
  const settings = applySettings(runtime, queues);
  const courts = courtService(runtime, invitations);
  const jobs = jobService(runtime, { items, queues, maxIdBytes: config.temporalMaxIdBytes });
  return {
    ...{ items, queues, rules, invitations, invariants, retention },
    commands: commandService(runtime.db),
    tickets: ticketService(runtime, { items, queues, rules }),
    notes: noteService(runtime.db),
    jobs,
    schedules: scheduleService(runtime, jobs),
    topics: topicService(runtime, queues),
    reviews: reviewService(runtime, config.auditSkewSeconds),
    cases: caseService(runtime, { courts, items, queues }),
    courts,
    jurors: jurorService(runtime, courts, invitations),
    gold: goldService(runtime),
    tasks: taskService(runtime, config),
    templates: templateService(runtime),
    groups: groupService(runtime),
    dispatches: dispatchService(runtime),
    feed: feedService(runtime),
    keys: keyService(runtime.db),
    openId: config.openId && openIdService(config.openId),
    adminLog: adminLogService(runtime.db),
    sessions: sessionService(runtime.db),
    figures: figureService(runtime.db),
    samples: sampleService(runtime),
    deliveries: deliveryService(runtime),
    outcomes: outcomeService(runtime.db),
    start() {
      reconciler.start();
      retention.start();
    },
    stop: async () =>
      void (await Promise.all([reconciler, invitations, settings, invariants, retention].map((each) => each.stop()))),
  };
}
