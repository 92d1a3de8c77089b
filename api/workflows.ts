import { WorkflowNotFoundError } from '@temporalio/client';
import type { Item } from '../contract/items.ts';
import type { Driven, ItemView } from '../contract/snapshot.ts';
import { workflowId } from '../domain/kinds.ts';
import { unreachable } from '../services/shared/problems.ts';
import type { Api } from './api.ts';

const TIMEOUT_MS = 5_000;
const DEFAULT_RETENTION_MS = 24 * 3_600_000;

/** The part of an item or review by which its workflow is found. */
export type Followed = Pick<Item, 'id' | 'ended_at'> & { kind: Driven };

/**
 * The state of an item as its workflow knows it, asked by a query.
 * @throws Problem `unavailable` while Temporal or its worker cannot be reached
 */
export async function askWorkflow(api: Api, item: Followed) {
  const id = workflowId(item);
  const { client } = api.ctx;
  try {
    return await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
      const handle = client.workflow.getHandle(id);
      const { runId, status } = await handle.describe();
      const { version, state, ...rest } = await handle.query<ItemView>('state');
      const snapshot = version === null || state === null ? null : { version, state, ...rest };
      return { workflowId: id, runId, status: status.name.toLowerCase(), snapshot, uiUrl: uiUrl(api, id, runId) };
    });
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw unreachable(api.ctx.log, error);
    const over = item.ended_at !== null && Date.now() - item.ended_at.getTime() > (await retentionMs(api));
    return { workflowId: id, runId: null, status: over ? 'gone' : 'not_started', snapshot: null, uiUrl: null };
  }
}

/** @returns the retention of closed workflows in Temporal */
async function retentionMs(api: Api): Promise<number> {
  const { workflowService } = api.ctx.client;
  try {
    const { config } = await workflowService.describeNamespace({ namespace: api.config.temporalNamespace });
    const seconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    return seconds > 0 ? seconds * 1000 : DEFAULT_RETENTION_MS;
  } catch (error) {
    throw unreachable(api.ctx.log, error);
  }
}

function uiUrl(api: Api, workflowId: string, runId: string): string | null {
  const { temporalUiUrl, temporalNamespace } = api.config;
  if (temporalUiUrl === null) return null;
  return `${temporalUiUrl}/namespaces/${temporalNamespace}/workflows/${encodeURIComponent(workflowId)}/${runId}/history`;
}
