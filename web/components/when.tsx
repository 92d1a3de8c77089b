import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../api/clock.ts';
import { texts } from '../texts/texts.ts';
import { duration, moment } from './format.ts';

/** A moment, and how far it is from now: `2 Nov 2026, 10:00:00 (3 min ago)`. */
export function When({ at }: { at: string }) {
  const now = useNow();
  const seconds = (Date.parse(at) - now) / 1_000;
  const t = texts.value.items;
  const away = duration(Math.abs(seconds));
  return (
    <time dateTime={at}>
      {moment(at)} <span class="muted">({seconds > 0 ? t.in(away) : t.ago(away)})</span>
    </time>
  );
}

const TICK_MS = 1_000;

/** The time, again and again while the tab is seen. @param clock the server's, or `performance.now()` */
export function useNow(tickMs = TICK_MS, clock = serverNow): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setNow(clock()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
