const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A time in seconds for people, in its two largest units: `1 h 39 min`. */
export function spanOf(seconds: number): string {
  let left = Math.round(seconds);
  const parts = UNITS.map(([unit, size]) => {
    const n = Math.floor(left / size);
    left -= n * size;
    return { n, text: `${n} ${unit}` };
  });
  const first = parts.findIndex(({ n }) => n > 0);
  const largest = first === -1 ? parts.slice(-1) : parts.slice(first, first + 2).filter(({ n }) => n > 0);
  return largest.map(({ text }) => text).join(' ');
}
