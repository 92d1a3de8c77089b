// How much jurors agree beyond chance. Both measures need only the distribution of votes: each tally with the number of
// cases that have it.

export interface TallyCount {
  /** Counted votes by option. */
  tally: Record<string, number>;
  cases: number;
}

const sum = (all: number[]) => all.reduce((a, b) => a + b, 0);
/** A case that only one person judged says nothing about agreement. */
const judgedByMany = (distribution: TallyCount[]) =>
  distribution
    .map(({ tally, cases }) => ({ counts: tally, n: sum(Object.values(tally)), cases }))
    .filter((f) => f.n > 1);

/** How often each option was voted for, over all cases. */
function totals(all: { counts: Record<string, number>; cases: number }[]): number[] {
  const by = new Map<string, number>();
  for (const { counts, cases } of all)
    for (const [option, n] of Object.entries(counts)) by.set(option, (by.get(option) ?? 0) + n * cases);
  return [...by.values()];
}

const agreeingPairs = (counts: Record<string, number>) => sum(Object.values(counts).map((n) => n * (n - 1)));

/**
 * Fleiss' kappa (Fleiss 1971), in the form for cases with different numbers of votes: each case weighs the same.
 * @returns null where it isn't defined: no case with two votes, or only one option ever voted for
 */
export function fleissKappa(distribution: TallyCount[]): number | null {
  const all = judgedByMany(distribution);
  const votes = sum(all.map((f) => f.n * f.cases));
  if (votes === 0) return null;
  const observed =
    sum(all.map((f) => (agreeingPairs(f.counts) / (f.n * (f.n - 1))) * f.cases)) / sum(all.map((f) => f.cases));
  const expected = sum(totals(all).map((n) => (n / votes) ** 2));
  return expected === 1 ? null : (observed - expected) / (1 - expected);
}

/**
 * Krippendorff's alpha for nominal data (Krippendorff 2011); cases may have different numbers of votes.
 * @returns null where it isn't defined, as above
 */
export function krippendorffAlpha(distribution: TallyCount[]): number | null {
  const all = judgedByMany(distribution);
  const votes = sum(all.map((f) => f.n * f.cases));
  const pairs = (n: number, agreeing: number) => n * (n - 1) - agreeing;
  const expected = pairs(votes, sum(totals(all).map((n) => n * (n - 1))));
  if (expected === 0) return null;
  const observed = sum(all.map((f) => (pairs(f.n, agreeingPairs(f.counts)) / (f.n - 1)) * f.cases));
  return 1 - ((votes - 1) * observed) / expected;
}
