import type { Runtime } from '../runtime/runtime.ts';
import { adminLogService } from './access/admin-log.ts';
import { keyService } from './access/keys.ts';
import { openIdService } from './access/open-id.ts';
import { sessionService } from './access/sessions.ts';
import { caseService } from './cases/cases.ts';
import { courtService } from './cases/courts.ts';
import { goldService } from './cases/gold.ts';
import { Invitations } from './cases/invitations.ts';
import { jurorService } from './cases/jurors.ts';
import { deliveryService } from './deliveries/deliveries.ts';
import { outcomeService } from './deliveries/outcomes.ts';
import { InvariantMonitor } from './doctor/invariants.ts';
import { feedService } from './figures/feed.ts';
import { figureService } from './figures/figures.ts';
import { sampleService } from './figures/samples.ts';
import { itemService } from './items/items.ts';
import { queueService } from './items/queues.ts';
import { Rules } from './items/rules.ts';
import { jobService } from './jobs/jobs.ts';
import { scheduleService } from './jobs/schedules.ts';
import { topicService } from './jobs/topics.ts';
import { reviewService } from './reviews/reviews.ts';
import { restartStuckReviews } from './reviews/stuck.ts';
import type { Context, ServiceConfig } from './shared/context.ts';
import { dispatchService } from './tasks/dispatches.ts';
import { groupService } from './tasks/groups.ts';
import { taskService } from './tasks/tasks.ts';
import { templateService } from './tasks/templates.ts';
import { ticketService } from './tickets/tickets.ts';
import { commandService } from './upkeep/commands.ts';
import { Reconciler } from './upkeep/reconciler.ts';
import { Retention } from './upkeep/retention.ts';
import { applySettings } from './upkeep/settings.ts';

/** What Docket does, a service for each noun. Transports check, authorise, call one of their functions and show. */
export type Services = ReturnType<typeof createServices>;

export function createServices(runtime: Runtime, config: ServiceConfig) {
  const ctx: Context = { ...runtime, config };
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
    ctx,
    ...{ items, queues, rules, invitations, invariants, retention },
    commands: commandService(runtime.db),
    tickets: ticketService(runtime, { items, queues, rules }),
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
