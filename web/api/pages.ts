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

/**
 * A list of the API from its beginning, as many pages as someone asked for, kept up to date.
 * @param load one page; the cursor is that of the page before
 * @param inputs what the list depends on, such as its filters; a change begins with one page again
 * @param on which events change the list
 */
export function usePages<Item>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<KeysetPage<Item>>,
  inputs: readonly unknown[],
  on?: (event: LiveEvent) => boolean,
): Listed<Item> {
  const [pages, setPages] = useState(1);
  useEffect(() => setPages(1), inputs);
  const all = useResource(
    async (signal) => {
      const items: Item[] = [];
      let cursor: string | null | undefined;
      for (let n = 0; n < pages && cursor !== null; n++) {
        const next: KeysetPage<Item> = await load(cursor, signal);
        items.push(...next.items);
        cursor = next.nextCursor;
      }
      return { items, hasMore: cursor !== null };
    },
    [...inputs, pages],
    { ...(on && { on }), keep: true },
  );
  return { ...all, data: all.data?.items, more: all.data?.hasMore ? () => setPages(pages + 1) : undefined };
}
