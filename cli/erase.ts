import { setTimeout as sleep } from 'node:timers/promises';
import { NewErasure } from '../contract/erasures.ts';
import type { Db } from '../db/pool.ts';
import type { Config } from '../runtime/config.ts';
import * as adminLog from '../services/access/admin-log.ts';
import * as erasures from '../services/upkeep/erasures.ts';
import { Misused } from './command.ts';
import { withStore } from './database.ts';
import { called } from './keys.ts';

const STEP_MS = 500;

/** `item`: its kind and id, as `ticket/17`. */
type Options = { reason: string } & Partial<Record<'item' | 'person', string>>;

/** Erases an item or the name of a person, and prints what is kept elsewhere. @throws Misused for options that do not fit */
export async function eraseCommand(config: Config, { item, ...options }: Options): Promise<void> {
  const [kind, ...id] = item?.split('/') ?? [];
  const { data: wanted, error } = NewErasure.safeParse({
    ...options,
    ...(kind && { item: { kind, id: id.join('/') } }),
  });
  if (!wanted) throw new Misused(`--${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}`);
  await withStore(config, async (db) => {
    const call = { ...called(), operation: 'addErasure', path: '/v1/erasures', body: wanted };
    const add = async () => ({ status: 202, ...(await erasures.add({ db }, wanted, call.actor)) });
    const row = await done(db, (await adminLog.record({ db }, call, add)).id);
    console.log(`${row.items} items and ${row.events} events are erased. What is kept elsewhere:`);
    for (const { what } of await erasures.remains({ db, config }, row)) console.log(`- ${what}`);
  });
}

/** Carries it out, with the processes that run. */
async function done(db: Db, id: string) {
  for (;;) {
    await erasures.carryOut({ db });
    const row = await erasures.find({ db }, id);
    if (row.state === 'done') return row;
    await sleep(STEP_MS);
  }
}
