import { useEffect, useRef } from 'preact/hooks';

const MINUTE_MS = 60_000;

/** Calls back once a minute while the tab is seen, and when it is seen again after longer than that. */
export function useEachMinute(work: () => void): void {
  const current = useRef(work);
  current.current = work;
  useEffect(() => {
    let last = Date.now();
    const again = () => {
      if (document.hidden || Date.now() - last < MINUTE_MS) return;
      last = Date.now();
      current.current();
    };
    const timer = setInterval(again, MINUTE_MS);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, []);
}

/** Asks again when a known sign becomes another one. */
export function useRefreshWhen(sign: string | null, refresh: () => void): void {
  const seen = useRef<string | null>(null);
  useEffect(() => {
    if (sign === null) return;
    if (seen.current !== null && seen.current !== sign) refresh();
    seen.current = sign;
  }, [sign]);
}
