import type { Command, Kind } from '../../contract/snapshot.ts';
import { closeItems } from '../../db/items.ts';
import { type Mover, only, type Receipt } from '../../db/pool.ts';
import { isFinal } from '../../domain/items.ts';
import { closeCases } from '../cases/cases.ts';
import type { Context } from '../shared/service.ts';
import { deleteTask } from '../tasks/tasks.ts';

/**
 * Carries out a command that an operator sent to an item's workflow in Temporal's UI or CLI; once, however often the
 * workflow asks for it. A command that changes nothing (the item is final or not held, the command is not known) is
 * recorded as refused in the item's events.
 * @param key identifies the command
 * @param receipt the workflow that asks and is not informed of what comes of it; default: the item's own
 */
export const carryOut = (
  { db }: Pick<Context, 'db'>,
  kind: Kind,
  id: string,
  key: string,
  command: Command,
  receipt: Receipt = { receivedBy: id },
) =>
  db.transaction(async (tx) => {
    const first = await tx.run('command_once', { key, kind, id });
    if (first.length > 0) await carryOutOnce(tx, kind, id, command);
  }, receipt);

async function carryOutOnce(tx: Mover, kind: Kind, id: string, command: Command): Promise<void> {
  const refuse = (data: object) => tx.move('note_item', { kind, id, type: 'refused', actor: command.by, data });
  const { type, version } = command;
  const isLate = kind === 'job' && version !== undefined && only(await tx.run('has_begun_since', { id, version })).has;
  if (isLate && type !== 'refuse') await refuse({ command: type, reason: 'not_open' });
  else if (command.type === 'refuse') {
    const { signal, reason, detail } = command;
    await refuse({ command: signal, reason, detail });
  } else if (!(await change(tx, kind, id, command))) {
    const [item] = await tx.run('get_items', { kind, ids: [id] });
    await refuse({ command: command.type, reason: item && isFinal(item.state) ? 'not_open' : 'not_held' });
  }
}

/** @returns whether anything changed */
async function change(
  tx: Mover,
  kind: Kind,
  id: string,
  command: Exclude<Command, { type: 'refuse' }>,
): Promise<boolean> {
  const actor = command.by;
  switch (command.type) {
    case 'invalidate':
      return invalidate(tx, kind, id, command.reason, actor);
    case 'reprioritize':
      return (await tx.move('change_item', { kind, id, change: { priority: command.priority }, actor })).length > 0;
    case 'kick':
      return (await tx.move('kick_job', { id, actor })).length > 0;
    case 'release': {
      const release = { kind, id, delaySeconds: 0, skip: false, undelivered: false, actor };
      return (await tx.move('release_item', release)).length > 0;
    }
  }
}

/** Ends an item with its dependents: the holds of a case, the dispatches of an occurrence, a task's occurrences. */
async function invalidate(tx: Mover, kind: Kind, id: string, reason: string, actor: string): Promise<boolean> {
  switch (kind) {
    case 'case':
      return (await closeCases(tx, [id], reason, actor)).length > 0;
    case 'task':
      return (await tx.move('cancel_occurrence', { id, reason, actor })).length > 0;
    case 'rotation':
      return (await deleteTask(tx, id, reason, actor)) === 'deleted';
    default:
      return (await closeItems(tx, kind, { state: 'invalidated', items: [{ id }], reason, actor })).length > 0;
  }
}
