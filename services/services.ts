import type { Runtime } from '../runtime/runtime.ts';
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
import { startRules } from './items/rules.ts';
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
import { commandService } from './upkeep/commands.ts';
import { Reconciler } from './upkeep/reconciler.ts';
import { Retention } from './upkeep/retention.ts';
import { applySettings } from './upkeep/settings.ts';

/** What Docket does, a service for each noun. Transports check, authorise, call one of their functions and show. */
export type Services = ReturnType<typeof createServices>;

export function createServices(runtime: Runtime, config: ServiceConfig) {
  const ctx: Context = { ...runtime, config };
  startRules(ctx);
  const invitations = new Invitations(ctx);
  const reconciler = new Reconciler(ctx);
  const invariants = new InvariantMonitor(ctx);
  const retention = new Retention(ctx, config);
  restartStuckReviews(ctx);
  const settings = applySettings(ctx);
  const courts = courtService(ctx, invitations);
  const jobs = jobService(ctx);
  return {
    ctx,
    ...{ invitations, invariants, retention },
    commands: commandService(ctx.db),
    jobs,
    schedules: scheduleService(ctx, jobs),
    topics: topicService(ctx),
    reviews: reviewService(ctx, config.auditSkewSeconds),
    cases: caseService(ctx, courts),
    courts,
    jurors: jurorService(ctx, courts, invitations),
    gold: goldService(ctx),
    tasks: taskService(ctx, config),
    templates: templateService(ctx),
    groups: groupService(ctx),
    dispatches: dispatchService(ctx),
    feed: feedService(ctx),
    figures: figureService(ctx.db),
    samples: sampleService(ctx),
    deliveries: deliveryService(ctx),
    outcomes: outcomeService(ctx.db),
    start() {
      reconciler.start();
      retention.start();
    },
    stop: async () =>
      void (await Promise.all([reconciler, invitations, settings, invariants, retention].map((each) => each.stop()))),
  };
}
