import { useEffect, useRef, useState } from 'preact/hooks';
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
  /** When `inputs` change, the old answer stays until the new one is there: it is more of the same. */
  keep?: boolean;
}

/** Between two calls for the same, however much happens. */
const GAP_MS = 400;
/** Without live events, pages ask again so often. */
const POLL_MS = 5_000;

/**
 * What a call answers, and goes on answering: asked again when events come, on `refresh()`, and when `inputs` change.
 * @param load gets a signal that fires when the answer is not wanted any more
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { on, everyMs, gapMs = GAP_MS, keep = false }: Options = {},
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, 'refresh'>>({ data: undefined, error: null, loading: true });
  const current = useRef({ load, on });
  current.current = { load, on };
  const refresh = useRef(() => {});
  useEffect(() => {
    const ended = new AbortController();
    setState((was) => ({ data: keep ? was.data : undefined, error: null, loading: true }));
    const ask = coalesce(gapMs, async () => {
      try {
        const data = await current.current.load(ended.signal);
        if (!ended.signal.aborted) setState({ data, error: null, loading: false });
      } catch (error) {
        if (!ended.signal.aborted) setState((was) => ({ ...was, error: problemOf(error), loading: false }));
      }
    });
    refresh.current = ask;
    ask();
    const isStale = (events: LiveEvent[] | null) => events === null || events.some((e) => current.current.on?.(e));
    const stopListening = on ? onEvents((events) => isStale(events) && ask()) : () => {};
    const stopPolling = poll(ask, everyMs, on !== undefined);
    return () => {
      ended.abort();
      stopListening();
      stopPolling();
    };
  }, inputs);
  return { ...state, refresh: () => refresh.current() };
}

function poll(ask: () => void, everyMs: number | undefined, isLive: boolean): () => void {
  const ms = everyMs ?? (isLive ? POLL_MS : undefined);
  if (ms === undefined) return () => {};
  const timer = setInterval(() => {
    const informed = isLive && everyMs === undefined && connection.peek() === 'live';
    if (!document.hidden && !informed) ask();
  }, ms);
  return () => clearInterval(timer);
}

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
