import { kindOf } from '../domain/kinds.ts';
import type { Runtime } from '../runtime/runtime.ts';
import * as courts from './cases/courts.ts';
import * as invitations from './cases/invitations.ts';
import * as invariants from './doctor/invariants.ts';
import * as samples from './figures/samples.ts';
import * as queues from './items/queues.ts';
import * as rules from './items/rules.ts';
import { restartStuck } from './reviews/stuck.ts';
import type { Context, ServiceConfig } from './shared/service.ts';
import { tendWords } from './tickets/lists.ts';
import * as suggestions from './tickets/suggestions.ts';
import * as erasures from './upkeep/erasures.ts';
import * as reconciler from './upkeep/reconciler.ts';
import * as retention from './upkeep/retention.ts';

/** What looks at the changes of each commit of this process. */
const FOLLOWERS = [rules.follow, invitations.follow, suggestions.follow];
/** What runs in each round of maintenance. */
const CHORES = [
  rules.sweep,
  suggestions.sweep,
  invitations.look,
  applySettings,
  invariants.checkNext,
  restartStuck,
  samples.take,
  erasures.look,
  tendWords,
  reconciler.look,
  retention.look,
];
/** What goes on by itself. */
const WORKING = [reconciler, reconciler.passes, invitations, erasures, retention];

/** Applies settings that changed to open items, where the call that changed them could not finish. */
async function applySettings(ctx: Context): Promise<void> {
  for (const { kind, name } of await ctx.db.run('take_refresh'))
    await (kindOf(kind).court ? courts.refresh(ctx, name) : queues.refresh(ctx, kind, name));
}

/** Makes the context of a process, before its runtime is started. */
export function createContext(runtime: Runtime, config: ServiceConfig): Context {
  const ctx: Context = { ...runtime, config };
  for (const follow of FOLLOWERS) ctx.db.onCommit((changes) => follow(ctx, changes));
  for (const chore of CHORES) ctx.maintenance.add(() => chore(ctx));
  return ctx;
}

/** Waits for what is under way, before the runtime stops. */
export const stopServices = (ctx: Context) => Promise.all(WORKING.map((work) => work.stop(ctx)));
