import { type Ruled, verdictOf, withVote } from '../../domain/courts.ts';
import type { Ballot, Tally } from '../../domain/deciding.ts';
import { quantile } from '../stats.ts';

/** An item that people have judged, in the order in which they vote now, and what is taken as true. */
export interface Judged {
  id: string;
  votes: { person: string; answer: string }[];
  truth: string;
}

/** What a court did with an item. */
interface Outcome {
  id: string;
  votes: number;
  right: boolean;
  hung: boolean;
}

/** By how much two courts differ over the same items, with the interval that 95 % of resampled items give. */
interface Difference {
  mean: number;
  low: number;
  high: number;
}

const RESAMPLES = 2_000;

/**
 * Lets a court judge items one after the other. Records begin empty, and count what each voter agreed with so far.
 * An item that runs out of people before its verdict counts as hung.
 */
export function judgeAll(court: Ruled, items: Judged[]): Outcome[] {
  const records = new Map<string, { judged: number; agreed: number }>();
  return items.map(({ id, votes, truth }) => {
    const ballots: Ballot[] = [];
    let tally: Tally = {};
    let winner: string | null = null;
    for (const { person, answer } of votes) {
      ballots.push({ option: answer, ...(records.get(person) ?? { judged: 0, agreed: 0 }) });
      tally = withVote(tally, answer);
      const verdict = verdictOf(court, tally, 0, ballots);
      winner = verdict.winner;
      if (winner !== null || verdict.hung) break;
    }
    for (const [n, { option }] of winner === null ? [] : ballots.entries()) {
      const person = votes[n]?.person ?? '';
      const { judged, agreed } = records.get(person) ?? { judged: 0, agreed: 0 };
      records.set(person, { judged: judged + 1, agreed: agreed + Number(option === winner) });
    }
    return { id, votes: ballots.length, right: winner === truth, hung: winner === null };
  });
}

/** The mean of values for each item, and its interval by bootstrap over items. */
export function difference(values: number[], roll: () => number): Difference {
  const mean = (all: number[]) => all.reduce((sum, value) => sum + value, 0) / all.length;
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(values.map(() => values[Math.floor(roll() * values.length)] ?? 0)),
  );
  return { mean: mean(values), low: quantile(means, 0.025), high: quantile(means, 0.975) };
}
