import { useEffect, useState } from 'preact/hooks';
import type { LiveEvent } from './live.ts';
import { type Resource, useResource } from './resource.ts';

/** A page of a list of the API. */
export interface KeysetPage<Item> {
  items: Item[];
  nextCursor: string | null;
}

export interface Listed<Item> extends Resource<Item[]> {
  /** Shows one page more; undefined: there are no more. */
  more: (() => void) | undefined;
}

/** Pages in a row without an item that are read before someone asks for more. */
const MOST_EMPTY = 20;

/**
 * The first pages of a list, or more while there is no item: the API leaves out what a key may not see, and may leave nothing of
 * a page.
 */
export async function readPages<Item>(load: (cursor: string | undefined) => Promise<KeysetPage<Item>>, pages: number) {
  const items: Item[] = [];
  let cursor: string | null | undefined;
  let read = 0;
  for (; cursor !== null && (read < pages || (items.length === 0 && read < MOST_EMPTY)); read++) {
    const next: KeysetPage<Item> = await load(cursor);
    items.push(...next.items);
    cursor = next.nextCursor;
  }
  return { items, read, hasMore: cursor !== null };
}

/**
 * A list of the API from its beginning, as many pages as someone asked for, kept up to date.
 * @param load one page; the cursor is that of the page before
 * @param inputs what the list depends on, such as its filters, as JSON has it; a change begins with one page again
 * @param on which events change the list
 */
export function usePages<Item>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<KeysetPage<Item>>,
  inputs: readonly unknown[],
  on?: (event: LiveEvent) => boolean,
): Listed<Item> {
  const of = JSON.stringify(inputs);
  const [asked, setAsked] = useState({ of, pages: 1 });
  const pages = asked.of === of ? asked.pages : 1;
  // who comes back to an earlier question begins anew
  useEffect(() => setAsked({ of, pages: 1 }), [of]);
  const all = useResource(
    async (signal) => ({ of, ...(await readPages((cursor) => load(cursor, signal), pages)) }),
    [of, pages],
    { ...(on && { on }), keep: true },
  );
  // the last answer stays while there is no newer one, but only if it is one to the same question
  const found = all.data?.of === of ? all.data : undefined;
  const more = found?.hasMore ? () => setAsked({ of, pages: found.read + 1 }) : undefined;
  return { ...all, data: found?.items, more };
}
