import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { NewErasure } from '../../contract/erasures.ts';
import { only } from '../../db/pool.ts';
import type { ErasureRow } from '../../db/statements.ts';
import type { Config } from '../../runtime/config.ts';
import { background, type Context, found } from '../shared/service.ts';
import { newId } from '../shared/tokens.ts';
import { retentionSeconds } from './reconciler.ts';

/** Asks for an erasure, which processes then carry out. Asked for again, it is the same one. @throws Problem `not_found` */
export async function add(
  { db }: Pick<Context, 'db'>,
  { item, person = '', reason }: NewErasure,
  actor: string,
): Promise<ErasureRow> {
  const standsFor = `erased-${newId()}`;
  if (!item) return only(await db.run('add_person_erasure', { id: newId(), person, standsFor, reason, actor }));
  const { kind, id: itemId } = item;
  return found(
    await db.run('add_erasure', { id: newId(), kind, itemId, reason, actor }),
    `there is no ${kind} ${itemId}`,
  );
}

/** @throws Problem `not_found` */
export const find = async ({ db }: Pick<Context, 'db'>, id: string): Promise<ErasureRow> =>
  found(await db.run('get_erasure', { id }), `there is no erasure ${id}`);

/** Carries out what has been asked for. A maintenance chore. */
export const { look, stop } = background(carryOut, 'an erasure failed, trying again');

/** Carries out all erasures step by step, each a transaction, and leaves half of the time to others. */
export async function carryOut({ db }: Pick<Context, 'db'>, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    const began = performance.now();
    const rows = await db.move('erasure_step', {}, { moved: (all) => all.filter(({ id }) => id !== null) });
    if (rows.length === 0) break;
    await sleep(performance.now() - began, undefined, { signal }).catch(() => {});
  }
  await db.run('forget_names');
}

/** What is kept elsewhere, and until when; null: until it is deleted there. @param client without one Temporal is not asked */
export async function remains(
  { db, config: { archive } }: { db: Context['db']; config: Pick<Config, 'archive'> },
  { finished_at, stands_for: standsFor }: ErasureRow,
  client?: Client,
) {
  const [by] = standsFor === null ? [] : await db.run('excluded_by_hash', { standsFor });
  const seconds = client && (await retentionSeconds(client));
  const known = finished_at !== null && seconds !== undefined;
  const until = known ? new Date(finished_at.getTime() + seconds * 1_000).toISOString() : null;
  return [
    { what: 'histories and memos of workflows in Temporal, which have names and ids, for its retention', until },
    ...(by && by.n > 0
      ? [{ what: `a keyed hash of the name, which excludes it from ${by.n} items until these have ended`, until: null }]
      : []),
    ...(archive ? [{ what: 'what retention has written to the archive', until: null }] : []),
    { what: 'exports and other copies of the feed, what receivers were sent, logs of processes', until: null },
    { what: 'dumps and backups of the database', until: null },
  ];
}
