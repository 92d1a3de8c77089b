import { workflowInfo } from '@temporalio/workflow';
import type { Command, ItemInput } from '../contract/snapshot.ts';
import { kindOf, kindOfWorkflow } from '../domain/kinds.ts';
import { byOf, driveItem, ending, type OperatorSignals, shown } from './items.ts';

/** What operators may ask for, as their signals' arguments say it. */
const COMMANDS: Record<Exclude<Command['type'], 'refuse'>, OperatorSignals[string]> = {
  invalidate: ending,
  kick: (arg) => ({ type: 'kick', by: byOf(arg) }),
  release: (arg) => ({ type: 'release', by: byOf(arg) }),
  reprioritize(arg) {
    const given = arg?.priority;
    const priority = Number(given);
    const detail = `priority must be an integer from -1000 to 1000, not ${shown(given)}`;
    if (!Number.isInteger(priority) || Math.abs(priority) > 1_000) return detail;
    // null, true and '' once passed for numbers: a command in recorded runs, so it has to be one here
    if (typeof given !== 'number' && !(typeof given === 'string' && given.trim() !== ''))
      return { type: 'refuse', signal: 'reprioritize', reason: 'invalid_argument', detail, by: byOf(arg) };
    return { type: 'reprioritize', priority, by: byOf(arg) };
  },
};

/**
 * The life of one item: its workflow's type says of which kind it is. Id `ticket/<id>`, `job/<id>` (S3), `case/<id>` with
 * its rounds of invitations (S2), `task/<id>/<occurrence>` (S4), `rotation/<id>`, which makes each occurrence when it is
 * due (S4.2).
 */
export default async function item(input: ItemInput): Promise<void> {
  const { workflowType } = workflowInfo();
  const kind = kindOfWorkflow(workflowType);
  if (!kind) throw new Error(`no kind of item has workflows of type ${workflowType}`);
  const signals = Object.entries(kindOf(kind).signals).map(([name, command]) => [name, COMMANDS[command]]);
  await driveItem(kind, input, Object.fromEntries(signals));
}
