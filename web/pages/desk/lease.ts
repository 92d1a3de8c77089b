import { serverNow } from '../../api/clock.ts';

/** How long something is held. */
export interface Lease {
  /** On the server's clock, in ms. */
  expiresMs: number;
  leaseMs: number;
  /** When it was last a full one, as far as is known; on the clock of `performance.now()`. */
  fullAt: number;
}

/** The same moment on the server's clock and on that of `performance.now()`. */
export interface Now {
  server: number;
  local: number;
}
export const now = (): Now => ({ server: serverNow(), local: performance.now() });

/** A lease by its end and when it began; left out: now. */
export function leaseUntil(expiresAt: string, { server, local }: Now, beganMs = server): Lease {
  const expiresMs = Date.parse(expiresAt);
  return { expiresMs, leaseMs: expiresMs - beganMs, fullAt: local - (server - beganMs) };
}

/** Whether to renew: more than half is over, and the holder has done something since it was full. Who has gone away keeps nothing. */
export function isRenewalDue({ expiresMs, leaseMs, fullAt }: Lease): boolean {
  const leftMs = expiresMs - serverNow();
  return leftMs > 0 && leftMs < leaseMs / 2 && lastActivity() > fullAt;
}

// What someone does of their own accord. Focus that a page moves by itself is none of it.
const EVENTS = ['keydown', 'pointerdown', 'input', 'wheel', 'touchmove'];

let lastMs = performance.now();
const note = () => {
  lastMs = performance.now();
};
for (const type of EVENTS) document.addEventListener(type, note, { capture: true, passive: true });
window.addEventListener('focus', note);

/** When someone last did something in this tab, or came back to it; on the clock of `performance.now()`. */
const lastActivity = (): number => lastMs;
