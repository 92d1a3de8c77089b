import type { Runtime } from '../runtime/runtime.ts';
import * as invitations from './cases/invitations.ts';
import * as invariants from './doctor/invariants.ts';
import * as samples from './figures/samples.ts';
import { startRules } from './items/rules.ts';
import { jobService } from './jobs/jobs.ts';
import { scheduleService } from './jobs/schedules.ts';
import { topicService } from './jobs/topics.ts';
import { restartStuck } from './reviews/stuck.ts';
import type { Context, ServiceConfig } from './shared/context.ts';
import { startReconciler } from './upkeep/reconciler.ts';
import * as retention from './upkeep/retention.ts';
import { applySettings } from './upkeep/settings.ts';

/** What Docket does, a service for each noun. Transports check, authorise, call one of their functions and show. */
export type Services = ReturnType<typeof createServices>;

export function createServices(runtime: Runtime, config: ServiceConfig) {
  const ctx: Context = { ...runtime, config };
  let reconciler: ReturnType<typeof startReconciler> | undefined;
  startRules(ctx);
  invitations.start(ctx);
  for (const chore of [applySettings, invariants.checkNext, restartStuck, samples.take])
    ctx.maintenance.add(() => chore(ctx));
  const jobs = jobService(ctx);
  return {
    ctx,
    jobs,
    schedules: scheduleService(ctx, jobs),
    topics: topicService(ctx),
    start() {
      reconciler = startReconciler(ctx);
      retention.start(ctx);
    },
    async stop() {
      await Promise.all([reconciler?.stop(), invitations.stop(ctx), retention.stop(ctx)]);
    },
  };
}
