import { workflowInfo } from '@temporalio/workflow';
import type { Command, ItemInput, ItemResult } from '../contract/snapshot.ts';
import { kindOf, kindOfWorkflow } from '../domain/kinds.ts';
import { byOf, driveItem, ending, type OperatorSignals, type SignalArg, shown } from './items.ts';

/** What operators may ask for, as their signals' arguments say it. */
const COMMANDS: Record<Exclude<Command['type'], 'refuse'>, OperatorSignals[string]> = {
  invalidate: { description: 'Ends the item without an outcome. Argument: {"reason": "…", "by": "…"}', ask: ending },
  kick: {
    description: 'Makes a buried job ready again. Argument: {"by": "…"}',
    ask: (arg) => ({ type: 'kick', by: byOf(arg) }),
  },
  release: {
    description: 'Takes the item from its holder and gives it back. Argument: {"by": "…"}',
    ask: (arg) => ({ type: 'release', by: byOf(arg) }),
  },
  reprioritize: {
    description: 'Changes the priority. Argument: {"priority": -1000 to 1000, "by": "…"}',
    ask: reprioritize,
  },
};

function reprioritize(arg: SignalArg): Command | string {
  const given = arg?.priority;
  const priority = Number(given);
  const detail = `priority must be an integer from -1000 to 1000, not ${shown(given)}`;
  if (!Number.isInteger(priority) || Math.abs(priority) > 1_000) return detail;
  // null, true and '' once passed for numbers: a command in recorded runs, so it has to be one here
  if (typeof given !== 'number' && !(typeof given === 'string' && given.trim() !== ''))
    return { type: 'refuse', signal: 'reprioritize', reason: 'invalid_argument', detail, by: byOf(arg) };
  return { type: 'reprioritize', priority, by: byOf(arg) };
}

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
  const signals = Object.entries(kindOf(kind).signals).map(([name, command]) => [name, COMMANDS[command]]);
  return driveItem(kind, input, Object.fromEntries(signals));
}
