/** Two decisions of one ticket, as keys, and how often they came together. */
export type Pair = readonly [theirs: string, other: string, n: number];

/** 95 % of a normal distribution lie within so many standard deviations. */
const Z = 1.959963984540054;

/**
 * A share with its Wilson interval at 95 %, which also holds for few and for extreme ones.
 * @returns `value` null where nothing was counted
 */
export function wilson(count: number, of: number) {
  if (of === 0) return { value: null, low: 0, high: 1 };
  const value = count / of;
  const z2 = Z * Z;
  const middle = (value + z2 / (2 * of)) / (1 + z2 / of);
  const half = (Z / (1 + z2 / of)) * Math.sqrt((value * (1 - value)) / of + z2 / (4 * of * of));
  return { value, low: count === 0 ? 0 : middle - half, high: count === of ? 1 : middle + half };
}

/** Cohen's κ: agreement beyond what chance would give. @returns null where there is none to be found */
export function kappa(pairs: readonly Pair[]): number | null {
  const [theirs, others] = [new Map<string, number>(), new Map<string, number>()];
  let [n, agreed] = [0, 0];
  for (const [one, other, count] of pairs) {
    n += count;
    if (one === other) agreed += count;
    theirs.set(one, (theirs.get(one) ?? 0) + count);
    others.set(other, (others.get(other) ?? 0) + count);
  }
  let byChance = 0;
  for (const [label, count] of theirs) byChance += count * (others.get(label) ?? 0);
  // in whole numbers up to the division, so that every computation of it has the same digits
  const [above, below] = [n * agreed - byChance, n * n - byChance];
  return below === 0 ? null : above / below;
}
