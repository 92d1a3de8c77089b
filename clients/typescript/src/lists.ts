import type { CallOptions, Transport } from './transport.ts';

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

const PAGE = 100;

/** All of a list, page by page, as they are taken. Fields of the query that are undefined are left out. */
export async function* listed<Item>(
  transport: Transport,
  path: string,
  query: Record<string, string | undefined> = {},
  options?: CallOptions,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const params = new URLSearchParams({ limit: String(PAGE) });
    for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, value);
    if (cursor) params.set('cursor', cursor);
    const page = (await transport.call('GET', `${path}?${params}`, undefined, options)) as unknown as Page<Item>;
    yield* page.items;
    cursor = page.nextCursor;
  }
}
