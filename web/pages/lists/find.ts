import { get } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { mayAct } from '../../api/session.ts';
import { pathOf, READERS } from '../../links.ts';

/** What an id, or the beginning of one, has found. */
export interface Found {
  kind: 'ticket' | 'job' | 'case' | 'occurrence' | 'task' | 'review';
  id: string;
  path: string;
  /** Of an item. */
  queue?: string;
  state?: string;
}

interface Hits {
  hits: Found[];
  /** There are more than are shown. */
  more: boolean;
}

const MOST = 20;
/** As the API names them: its tasks are occurrences. */
const ITEM_KINDS = ['ticket', 'job', 'case', 'task'] as const;
type ItemListKind = (typeof ITEM_KINDS)[number];

/**
 * Looks for what has this id, or an id that begins like it: items of all kinds by one call. Tasks and reviews are no items, and
 * are found by their whole id only; so is all that a consumer may see.
 * @throws CallError
 */
export async function findId(id: string): Promise<Hits> {
  const of = { path: { id } };
  if (!mayAct('producer', 'agent')) return { hits: await known('job', id, get('/v1/jobs/{id}', of)), more: false };
  const [items, ...others] = await Promise.all([
    itemsLike(id),
    known('rotation', id, get('/v1/tasks/{id}', of)),
    known('review', id, get('/v1/reviews/{id}', of)),
  ]);
  const hits = items.items.slice(0, MOST).map(({ kind, id, queue, state }): Found => {
    return { kind: kind === 'task' ? 'occurrence' : kind, id, queue, state, path: pathOf(kind, id) };
  });
  return { hits: [...others.flat(), ...hits], more: items.more || items.items.length > MOST };
}

/** The API lists items of all kinds also to those who may not read each. */
async function itemsLike(id: string) {
  const read = (kind?: ItemListKind) => {
    const query = { id, limit: MOST, ...(kind && { kind }) };
    return get('/v1/items', { query });
  };
  const readable = ITEM_KINDS.filter((kind) => mayAct(...READERS[kind === 'task' ? 'occurrence' : kind]));
  const pages = await Promise.all(readable.length === ITEM_KINDS.length ? [read()] : readable.map(read));
  return { items: pages.flatMap(({ items }) => items), more: pages.some(({ nextCursor }) => nextCursor !== null) };
}

/** The one to open at once: the only one with this very id, or the only one at all. */
export function onlyOne(id: string, { hits }: Hits): Found | undefined {
  const exact = hits.filter((one) => one.id === id);
  const [first, second] = exact.length > 0 ? exact : hits;
  return second ? undefined : first;
}

/** There is none, it is not for this key, or it cannot be an id of this kind. */
const ABSENT = ['not_found', 'forbidden', 'invalid_request'];

async function known(kind: 'job' | 'rotation' | 'review', id: string, asking: Promise<unknown>) {
  try {
    await asking;
  } catch (error) {
    if (ABSENT.includes(problemOf(error).code)) return [];
    throw error;
  }
  return [{ kind: kind === 'rotation' ? 'task' : kind, id, path: pathOf(kind, id) }] satisfies Found[];
}
