import type { Authenticator } from '../api/auth.ts';
import type { Metrics } from '../api/metrics.ts';
import type { Item } from '../contract/items.ts';
import type { Kind } from '../contract/snapshot.ts';
import * as items from '../db/items.ts';
import type { Queryable } from '../db/pool.ts';
import { claimItems, deleteQueue, ensureQueue } from '../db/queues.ts';
import type { NewCallback, Received } from '../db/reviews.ts';
import type { Engine } from '../runtime/runtime.ts';
import { share, sharePerGroup } from './batching.ts';
import { type CaseService, caseService } from './cases.ts';
import { type JobService, jobService } from './jobs.ts';
import { settleDue } from './queues.ts';
import { type ClientService, clientService } from './tasks.ts';
import { newToken } from './tokens.ts';

export interface ApiConfig {
  allowPrivateCallbacks: boolean;
  /** Where the Temporal UI is, for links; null: unknown. */
  temporalUiUrl: string | null;
  temporalNamespace: string;
  /** How long Temporal lets a workflow's id be, in bytes. */
  temporalMaxIdBytes: number;
  /** Rotating tasks that an executor may have (S4.9). */
  maxRotations: number;
  maxCalls: number;
  /** Open mode listens on loopback and answers only to loopback names. */
  open: boolean;
}

/** One person's turn at a queue, for one item. */
export interface PlainClaim {
  person: string;
  token: string;
}

/** What endpoints work with. Statements that many callers run at once are shared (services/batching.ts). */
export interface Api {
  engine: Engine;
  config: ApiConfig;
  auth: Authenticator;
  metrics: Metrics;
  /** What has answered at least once since this process began. */
  reached: { postgres: boolean; temporal: boolean };
  /** Whether this process has made sure of it already. */
  knowsQueue(kind: Kind, name: string): boolean;
  /** Deletes a queue that has no items. */
  deleteQueue(kind: Kind, name: string): Promise<'deleted' | 'used' | 'not_found'>;
  /** Makes sure that a queue exists; known ones cost nothing. */
  ensureQueue(kind: Kind, name: string): Promise<void>;
  /** Adds one item; undefined when the id exists. */
  add(input: { kind: Kind; item: items.NewItem }): Promise<Item | undefined>;
  /** Claims one ticket without skills, together with whoever asks at the same time; what the person holds comes too. */
  claim(queue: string, person: string): Promise<{ rows: Item[]; token: string }>;
  settle(input: { kind: Kind; settlement: items.Settlement }): Promise<Item | undefined>;
  renew(input: { kind: Kind; hold: items.Hold }): Promise<Item | undefined>;
  /** Keeps an audit's callback. */
  receive(callback: NewCallback): Promise<Received>;
  jobs: JobService;
  cases: CaseService;
  clients: ClientService;
}

/** Queues that a process remembers. */
const MOST_KNOWN = 10_000;

export function createApi(base: Pick<Api, 'engine' | 'config' | 'auth' | 'metrics'>): Api {
  const { db, after } = base.engine;
  const known = new Set<string>();
  const beingMade = new Map<string, Promise<void>>();

  const add = sharedAdd(base.engine);
  const settle = share<{ kind: Kind; settlement: items.Settlement }, Item | undefined>(
    (inputs) =>
      byKind(inputs, async (kind, group) => {
        const rows = await items.settleItems(
          db,
          kind,
          group.map((g) => g.settlement),
        );
        after(rows);
        return group.map((g) => rows.find((r) => r.settled_token === g.settlement.token));
      }),
    { keys: ({ kind, settlement: s }) => [`${kind}/${s.id}`, s.token] },
  );

  const renew = share<{ kind: Kind; hold: items.Hold }, Item | undefined>(
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
  );

  const claimAt = sharedClaims(base.engine);
  const receive = share<NewCallback, Received>((all) => base.engine.inbox(all, false), {
    keys: (c) => [`${c.review}/${c.id}`],
  });

  const api: Omit<Api, 'jobs'> = {
    ...base,
    cases: caseService(base.engine),
    clients: clientService(base.engine),
    reached: { postgres: false, temporal: false },
    add,
    settle,
    renew,
    receive,
    knowsQueue: (kind, name) => known.has(`${kind}/${name}`),
    deleteQueue: (kind, name) => deleteQueue(db, kind, name).finally(() => known.delete(`${kind}/${name}`)),
    ensureQueue(kind, name) {
      const key = `${kind}/${name}`;
      if (known.has(key)) return Promise.resolve();
      const making =
        beingMade.get(key) ??
        ensureQueue(db, kind, name).then(() => {
          // callers choose the names; forgetting costs one statement a queue
          if (known.size >= MOST_KNOWN) known.clear();
          known.add(key);
        });
      beingMade.set(key, making);
      return making.finally(() => beingMade.delete(key));
    },
    async claim(queue, person) {
      const token = newToken();
      return { rows: await claimAt(queue, { person, token }), token };
    },
  };
  return Object.assign(api, { jobs: jobService(api) });
}

/** An item that the database has named is found by its hash, which is then drawn at random. */
const isSame = (row: Item, item: items.NewItem) =>
  item.id === null ? Buffer.from(row.content_hash).toString('hex') === item.hash : row.id === item.id;

function sharedAdd({ db, settled }: Engine) {
  return share<{ kind: Kind; item: items.NewItem }, Item | undefined>(
    (inputs) =>
      byKind(inputs, async (kind, group) => {
        const added = group.map((g) => g.item);
        const add = async (tx: Queryable) => settleDue(tx, kind, await items.addItems(tx, kind, added));
        // one that comes with its age may have escalations behind it, and stands where they put it from the first
        const aged = added.some((item) => item.createdAt !== null);
        const rows = await (aged ? db.transaction(add) : add(db));
        const now = await settled(rows);
        return added.map((item) => now.find((r) => isSame(r, item)));
      }),
    { keys: ({ kind, item }) => [`${kind}/${item.id ?? item.hash}`] },
  );
}

/** Per queue, because a statement hands out items of one queue only. */
function sharedClaims({ db, after }: Engine) {
  return sharePerGroup<PlainClaim, Item[]>((queue) =>
    share(
      async (batch) => {
        const tokens = batch.map((c) => c.token);
        const persons = batch.map((c) => c.person);
        const claim = { kind: 'ticket' as const, queue, persons, tokens, count: 1, skills: [], resume: true };
        const rows = await claimItems(db, claim);
        const given = new Set(tokens);
        after(rows.filter((r) => r.lease_id !== null && given.has(r.lease_id)));
        return batch.map((c) => rows.filter((r) => r.holder === c.person));
      },
      { keys: (c) => [c.person] },
    ),
  );
}

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
