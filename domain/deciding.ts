// What a strategy that decides cases takes and gives; domain/courts.ts has the table of them.

/** Settings that strategies depend on. */
export interface Rules {
  options: string[];
  votesToWin: number;
  /** The largest number of jurors, where the strategy has one; null: its default. */
  panel: number | null;
  /** By how many votes the leader must lead. */
  margin: number | null;
  /** How probable it must be that the leading option is right. */
  probability: number | null;
  /** The largest number of votes, for strategies that ask for one. */
  maxVotes: number | null;
  /** Excludes jurors who agree with fewer than this share of outcomes, after that number of them; null: excludes none. */
  quality: { agreement: number; after: number } | null;
}

/** Counted votes by option. */
export type Tally = Record<string, number>;

/** A counted vote, with the record of its voter: outcomes and gold that they judged, and how often they agreed. */
export interface Ballot {
  option: string;
  judged: number;
  agreed: number;
}

/** The verdict of the votes so far. */
export interface Judgement {
  winner: string | null;
  /** The fewest further votes that could decide it; 0 when it is decided. */
  votesLeft: number;
  /** The panel that votes, from 0. */
  stage: number;
  /** No option can win any more. */
  hung: boolean;
}

/** A way to decide. */
export interface Deciding {
  /** The settings that it cannot do without. */
  needs?: ('margin' | 'probability' | 'maxVotes')[];
  /** Whether it weighs each vote by the record of its voter. */
  byRecords?: boolean;
  /**
   * @param stage the panel that voted so far
   * @param ballots for strategies that go by records; left out: nothing is known of the voters
   */
  judge(tally: Tally, rules: Rules, stage: number, ballots?: Ballot[]): Judgement;
}

export const votesIn = (tally: Tally): number => Object.values(tally).reduce((sum, n) => sum + n, 0);

/** The options of a tally, the one with most votes first. */
export const byVotes = (tally: Tally): [option: string, votes: number][] =>
  Object.entries(tally).sort(([, a], [, b]) => b - a);
