import { workflowInfo } from '@temporalio/workflow';
import type { ItemInput, ItemResult } from '../contract/snapshot.ts';
import { kindOfWorkflow } from '../domain/kinds.ts';
import { driveItem } from './items.ts';

/**
 * The life of one item: its workflow's type says of which kind it is. Id `ticket/<id>`, `job/<id>` (S3), `case/<id>` with
 * its rounds of invitations (S2), `task/<id>/<occurrence>` (S4), `rotation/<id>`, which makes each occurrence when it is
 * due (S4.2).
 * @returns how the item ended, which the Temporal UI shows as the workflow's result
 */
export default async function item(input: ItemInput): Promise<ItemResult> {
  const { workflowType } = workflowInfo();
  const kind = kindOfWorkflow(workflowType);
  if (!kind) throw new Error(`no kind of item has workflows of type ${workflowType}`);
  return driveItem(kind, input);
}
