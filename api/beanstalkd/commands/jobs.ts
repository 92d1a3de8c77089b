import type { Item } from '../../../db/items.ts';
import { deleteJobs, jobByNumber, kickJob, peekBuried, peekDelayed, peekReady } from '../../../db/jobs.ts';
import { isFinal } from '../../../domain/items.ts';
import { isTube } from '../protocol.ts';
import { jobReply, NOT_FOUND } from '../replies.ts';
import type { Session } from '../session.ts';
import type { Handlers } from './table.ts';

export const jobs: Handlers<'delete' | 'kick' | 'kick-job' | 'peek' | 'peek-ready' | 'peek-delayed' | 'peek-buried'> = {
  async delete(session, { number }) {
    const item = (await finishOwn(session, number)) ?? (await deleteFree(session, number));
    if (!item) return NOT_FOUND;
    if (isTube(item.queue)) session.door.tubes.counted(item.queue).deletes++;
    return 'DELETED\r\n';
  },

  async kick(session, { bound }) {
    return `KICKED ${await session.door.api.services.jobs.kick(session.using.name, bound, session.holder)}\r\n`;
  },

  async 'kick-job'(session, { number }) {
    const { db } = session.door.api.runtime;
    const item = await jobByNumber(db, number);
    const rows = item ? await kickJob(db, item.id, session.holder) : [];
    return rows.length > 0 ? 'KICKED\r\n' : NOT_FOUND;
  },

  async peek(session, { number }) {
    const item = await jobByNumber(session.door.api.runtime.db, number);
    return found(item && !isFinal(item.state) ? item : undefined);
  },

  'peek-ready': async ({ door, using }) => found(await peekReady(door.api.runtime.db, using.name)),
  'peek-delayed': async ({ door, using }) => found(await peekDelayed(door.api.runtime.db, using.name)),
  'peek-buried': async ({ door, using }) => found(await peekBuried(door.api.runtime.db, using.name)),
};

const found = (item: Item | undefined) => (item ? jobReply('FOUND', item) : NOT_FOUND);

/** Who deletes what he has reserved has done it: the job is finished, not called off. */
async function finishOwn(session: Session, number: number): Promise<Item | undefined> {
  const held = session.reservations.get(number);
  if (!held) return undefined;
  const item = await session.door.api.services.jobs.finish(held.id, held.token, session.holder);
  session.reservations.remove(number);
  return item;
}

async function deleteFree(session: Session, number: number): Promise<Item | undefined> {
  const { db } = session.door.api.runtime;
  const item = await jobByNumber(db, number);
  if (!item) return undefined;
  const rows = await deleteJobs(db, [{ id: item.id, actor: session.holder }], false);
  return rows[0];
}
