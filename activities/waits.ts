import type { Awaited } from '../contract/awaiting.ts';
import * as waits from '../services/deliveries/waits.ts';
import type { Context } from '../services/shared/context.ts';
import { carryOut } from '../services/upkeep/commands.ts';

export type WaitActivities = ReturnType<typeof waitActivities>;

/** Activities of workflows that wait for the end of an item (B.1). */
export const waitActivities = (ctx: Context) => ({
  readOutcome: (workflowId: string, awaited: Awaited) => waits.read(ctx, workflowId, awaited),
  async forgetWait(workflowId: string) {
    await waits.forget(ctx, workflowId);
  },
  /** Ends the item, because its caller has cancelled and wants that. */
  withdraw: (workflowId: string, { kind, id, version, actor }: Awaited) =>
    carryOut(ctx, kind, id, workflowId, { type: 'invalidate', reason: 'withdrawn', by: actor, version }),
});
