let offsetMs = 0;

/** The server's time, in ms: what says when a lease ends. A browser's clock may be minutes away from it. */
export const serverNow = (): number => Date.now() + offsetMs;

/** Learns from an answer's `Date`, which is cut to the second: each answer narrows down how far the clocks are apart. */
export function noteDate(header: string | null): void {
  const date = Date.parse(header ?? '');
  if (Number.isNaN(date)) return;
  const least = date - Date.now();
  offsetMs = Math.min(least + 1_000, Math.max(least, offsetMs));
}
