import { useEffect, useRef, useState } from 'preact/hooks';
import type { paths } from '../../clients/typescript/src/openapi.ts';
import { useAgain } from './again.ts';
import { type Answer, type Asked, get } from './client.ts';
import { connection } from './connection.ts';
import { type LiveEvent, onEvents } from './live.ts';
import { type Problem, problemOf } from './problem.ts';

export interface Resource<T> {
  /** The last answer, also while a newer one is under way or failed. */
  data: T | undefined;
  /** Why the last call failed; null after one that succeeded. */
  error: Problem | null;
  loading: boolean;
  /** Asks again soon; several calls within a moment become one. */
  refresh(): void;
}

interface Options {
  /** Which events make the answer an old one. */
  on?: (event: LiveEvent) => boolean;
  /** Asks again so often, for what no event tells; not while the tab is hidden. */
  everyMs?: number;
  /** At least so long between two calls, for what is dear to answer. */
  gapMs?: number;
  /** What of `inputs` the answer is about; while that stays, the old answer does until the new one is there. Left out: all of them. */
  about?: unknown;
}

/** Between two calls for the same, however much happens. */
const GAP_MS = 400;
/** Without live events, pages ask again so often. */
const POLL_MS = 5_000;
const BEGUN = { data: undefined, error: null, loading: true };

/**
 * What a call answers, and goes on answering: asked again when events come, on `refresh()`, and when `inputs` change.
 * @param load gets a signal that fires when the answer is not wanted any more
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { on, everyMs, gapMs = GAP_MS, about = inputs }: Options = {},
): Resource<T> {
  const of = JSON.stringify(about);
  const [state, setState] = useState<Omit<Resource<T>, 'refresh'> & { of: string }>({ ...BEGUN, of });
  const current = useRef({ load, on });
  current.current = { load, on };
  const refresh = useRef(() => {});
  useEffect(() => {
    const ended = new AbortController();
    setState((was) => ({ ...BEGUN, of, data: was.of === of ? was.data : undefined }));
    const ask = coalesce(gapMs, async () => {
      try {
        const data = await current.current.load(ended.signal);
        if (!ended.signal.aborted) setState({ of, data, error: null, loading: false });
      } catch (error) {
        if (!ended.signal.aborted) setState((was) => ({ ...was, error: problemOf(error), loading: false }));
      }
    });
    refresh.current = ask;
    ask();
    const isStale = (events: LiveEvent[] | null) => events === null || events.some((e) => current.current.on?.(e));
    const stopListening = on ? onEvents((events) => isStale(events) && ask()) : () => {};
    return () => {
      ended.abort();
      stopListening();
    };
  }, inputs);
  const poll = () => (everyMs !== undefined || connection.peek() !== 'live') && refresh.current();
  useAgain(poll, everyMs ?? (on ? POLL_MS : null));
  // just after a change of the question, the last answer is still one to the question before
  return { ...(state.of === of ? state : BEGUN), refresh: () => refresh.current() };
}

/** The same for a GET of the API, asked again when `params` change. */
export const useGet = <P extends keyof paths>(path: P, params: Asked<P>, options?: Options): Resource<Answer<P>> =>
  useResource((signal) => get(path, params, signal), [path, JSON.stringify(params)], options);

/** The queues that the session sees, as many as a page of them has. */
export const useQueues = () => useGet('/v1/queues', { query: { limit: 500 } }).data?.items ?? [];

/** Does the work at once; never twice at the same time, and calls within `gapMs` of the last one become one. */
function coalesce(gapMs: number, work: () => Promise<void>): () => void {
  let [running, again] = [false, false];
  const run = async () => {
    running = true;
    again = false;
    await work();
    await new Promise((resolve) => setTimeout(resolve, gapMs));
    running = false;
    if (again) void run();
  };
  return () => {
    again = true;
    if (!running) void run();
  };
}

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
export async function readPages<Item>(
  load: (cursor: string | undefined) => Promise<KeysetPage<Item>>,
  pages: number,
  from?: string,
) {
  const items: Item[] = [];
  let cursor: string | null | undefined = from;
  let read = 0;
  for (; cursor !== null && (read < pages || (items.length === 0 && read < MOST_EMPTY)); read++) {
    const next: KeysetPage<Item> = await load(cursor);
    items.push(...next.items);
    cursor = next.nextCursor;
  }
  return { items, read, nextCursor: cursor ?? null };
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
  const read = (signal: AbortSignal) => readPages((cursor) => load(cursor, signal), pages);
  const all = useResource(read, [of, pages], { on, about: of });
  const found = all.data;
  const more = found?.nextCursor ? () => setAsked({ of, pages: found.read + 1 }) : undefined;
  return { ...all, data: found?.items, more };
}

type Row<P extends keyof paths> = Answer<P> extends { items: (infer R)[] } ? R : never;

const ROWS = 50;

/** The same for a list of the API by its path. Filters that are empty say nothing. */
export function useList<P extends keyof paths>(path: P, params: Asked<P>, on?: (event: LiveEvent) => boolean) {
  const { query, ...rest } = params as { query?: object };
  const filters = Object.fromEntries(Object.entries(query ?? {}).filter(([, value]) => value));
  const load = (cursor: string | undefined, signal: AbortSignal) =>
    get(path, { ...rest, query: { limit: ROWS, ...filters, cursor } } as never, signal);
  return usePages(load as never, [path, rest, filters], on) as Listed<Row<P>>;
}
