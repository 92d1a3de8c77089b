import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import * as items from '../db/items.ts';
import type { Mover } from '../db/pool.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { share } from './batching.ts';
import { settleDue } from './queues.ts';
import type { Rules } from './rules.ts';

/** What tickets and jobs do alike. Statements of concurrent calls are shared (services/batching.ts). */
export interface ItemService {
  /** Adds one item; undefined when the id exists. */
  add(input: { kind: Kind; item: items.NewItem }): Promise<Item | undefined>;
  settle(input: { kind: Kind; settlement: items.Settlement }): Promise<Item | undefined>;
  renew(input: { kind: Kind; hold: items.Hold }): Promise<Item | undefined>;
}

export function itemService({ db }: Runtime, rules: Rules): ItemService {
  return {
    add: share(
      (inputs) =>
        byKind(inputs, async (kind, group) => {
          const added = group.map((g) => g.item);
          const add = async (tx: Mover) => settleDue(tx, kind, await items.addItems(tx, kind, added));
          // one that comes with its age may have escalations behind it, and stands where they put it from the first
          const aged = added.some((item) => item.createdAt !== null);
          const rows = await rules.settled(await (aged ? db.transaction(add) : add(db)));
          return added.map((item) => rows.find((r) => isSame(r, item)));
        }),
      { keys: ({ kind, item }) => [`${kind}/${item.id ?? item.hash}`] },
    ),
    settle: share(
      (inputs) =>
        byKind(inputs, async (kind, group) => {
          const rows = await items.settleItems(
            db,
            kind,
            group.map((g) => g.settlement),
          );
          return group.map((g) => rows.find((r) => r.settled_token === g.settlement.token));
        }),
      { keys: ({ kind, settlement: s }) => [`${kind}/${s.id}`, s.token] },
    ),
    renew: share(
      (inputs) =>
        byKind(inputs, async (kind, group) => {
          const rows = await items.renewItems(
            db,
            kind,
            group.map((g) => g.hold),
          );
          return group.map((g) => rows.find((r) => r.lease_id === g.hold.token));
        }),
      { keys: ({ kind, hold }) => [`${kind}/${hold.id}`, hold.token] },
    ),
  };
}

/** An item that the database has named is found by its hash, which is then drawn at random. */
const isSame = (row: Item, item: items.NewItem) =>
  item.id === null ? Buffer.from(row.content_hash).toString('hex') === item.hash : row.id === item.id;

/** Runs one statement per kind and puts the answers back in the order of the inputs. */
async function byKind<In extends { kind: Kind }, Out>(
  inputs: In[],
  run: (kind: Kind, group: In[]) => Promise<Out[]>,
): Promise<Out[]> {
  const answers = new Map<In, Out>();
  for (const [kind, group] of groups(inputs, (i) => i.kind)) {
    const outputs = await run(kind, group);
    group.forEach((input, i) => {
      answers.set(input, outputs[i] as Out);
    });
  }
  return inputs.map((input) => answers.get(input) as Out);
}

function groups<T, K>(all: T[], key: (one: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>();
  for (const one of all) {
    const group = found.get(key(one));
    if (group) group.push(one);
    else found.set(key(one), [one]);
  }
  return found;
}
