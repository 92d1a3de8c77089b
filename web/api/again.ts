import { useEffect, useRef } from 'preact/hooks';
import { type LiveEvent, onEvents } from './live.ts';

/**
 * Calls back so often while the tab is seen, and when it is seen again after longer than that; null: not at all, so that a page on
 * which nothing is under way asks nothing.
 */
export function useAgain(work: () => unknown, everyMs: number | null): void {
  const current = useRef(work);
  current.current = work;
  useEffect(() => {
    if (everyMs === null) return;
    let last = Date.now();
    const again = () => {
      if (document.hidden) return;
      last = Date.now();
      current.current();
    };
    const seen = () => Date.now() - last >= everyMs && again();
    const timer = setInterval(again, everyMs);
    document.addEventListener('visibilitychange', seen);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [everyMs]);
}

/** Calls back some time after the page was opened and after each event that `on` names, for what follows them. */
export function useLater(work: () => void, on: (event: LiveEvent) => boolean, delaysMs: readonly number[]): void {
  const current = useRef({ work, on });
  current.current = { work, on };
  useEffect(() => {
    let timers: ReturnType<typeof setTimeout>[] = [];
    const cancel = () => timers.forEach(clearTimeout);
    const begin = () => {
      cancel();
      timers = delaysMs.map((ms) => setTimeout(() => current.current.work(), ms));
    };
    begin();
    const stop = onEvents((events) => events?.some((event) => current.current.on(event)) && begin());
    return () => {
      stop();
      cancel();
    };
  }, delaysMs);
}
