import { texts } from '../texts/texts.ts';
import { useNow } from './when.tsx';
import './lease.css';

const TICK_MS = 250;
/** From here on it stands out. */
const SOON_MS = 30_000;

/** How long a lease lasts yet. Screen readers are not told each second. */
export function LeaseTime({ expiresMs }: { expiresMs: number }) {
  const t = texts.value.common.lease;
  const left = expiresMs - useNow(TICK_MS);
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
