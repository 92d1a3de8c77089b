import { useEffect, useState } from 'preact/hooks';
import { serverNow } from '../api/clock.ts';
import { texts } from '../texts/texts.ts';
import { dayAndTime, duration, moment } from './format.ts';
import './lease.css';

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

/** `2 Nov, 10:00`, where it is of this year; all of it to whoever points at it. */
export const ShortMoment = ({ at }: { at: string }) => (
  <time dateTime={at} title={moment(at)}>
    {new Date(at).getFullYear() === new Date().getFullYear() ? dayAndTime(new Date(at)) : moment(at)}
  </time>
);

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

const FAST_MS = 250;
/** From here on it stands out. */
const SOON_MS = 30_000;

/** How long a lease lasts yet. Screen readers are not told each second. */
export function LeaseTime({ expiresMs }: { expiresMs: number }) {
  const t = texts.value.common.lease;
  const left = expiresMs - useNow(FAST_MS);
  return (
    <span class={`lease ${left < SOON_MS ? 'soon' : ''}`} role="timer" title={t.hint}>
      {t.left} <strong>{clock(left)}</strong>
    </span>
  );
}

/** `4:07`, `1:00:00` */
function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}
