// Strategies of courts: how they admit jurors, pick cases and decide (S2.8). A new kind of court is one more entry in
// one of the three tables; no other code names them.

import { type Ballot, byVotes, type Deciding, type Judgement, type Rules, type Tally, votesIn } from './deciding.ts';
import { margin } from './margin.ts';
import { posterior } from './posterior.ts';

/** The threshold that a juror's record must reach, as the database checks it. */
interface Eligibility {
  /** 0…1; null: no threshold. */
  agreement: number | null;
  after: number;
  /** Whether jurors may judge before they have judged on `after` outcomes. */
  newcomers: boolean;
}

/** The order in which claims go through the open cases. */
interface Order {
  /** From a random start, instead of from the head. */
  randomStart: boolean;
  /** Higher goes first; equal ones by age. */
  priority(votesLeft: number): number;
}

export const withVote = (tally: Tally, option: string): Tally => ({
  ...tally,
  [option]: (Object.hasOwn(tally, option) ? (tally[option] ?? 0) : 0) + 1,
});

const ADMIT: Record<string, (rules: Rules) => Eligibility> = {
  /** All eligible jurors of the list. */
  all: ({ quality }) => ({ agreement: quality?.agreement ?? null, after: quality?.after ?? 0, newcomers: true }),
  /** Only proven jurors: judged on enough outcomes and gold cases, and above the threshold. */
  proven: ({ quality }) => ({ agreement: quality?.agreement ?? 0.5, after: quality?.after ?? 10, newcomers: false }),
};

const PICK: Record<string, Order> = {
  random: { randomStart: true, priority: () => 0 },
  oldest: { randomStart: false, priority: () => 0 },
  closest: { randomStart: false, priority: (votesLeft) => -votesLeft },
};

const DECIDE: Record<string, Deciding> = {
  /** First to k: the first option with `votesToWin` votes. */
  'first-to': { judge: (tally, { votesToWin }) => race(tally, votesToWin, Number.POSITIVE_INFINITY, 0) },
  /** The same, among a panel of n: the case hangs when no option can win with the votes left. */
  majority: { judge: (tally, { votesToWin, panel }) => race(tally, votesToWin, panel ?? 2 * votesToWin - 1, 0) },
  /** As many as `votesToWin` of one panel; if that fails, a second panel of the same size, and more than half of both. */
  supermajority: {
    judge(tally, { votesToWin, panel }, stage) {
      const size = panel ?? Math.floor(1.5 * votesToWin);
      const first = race(tally, votesToWin, size, 0);
      return stage === 0 && !first.hung ? first : race(tally, size + 1, 2 * size, 1);
    },
  },
  margin,
  posterior,
};

export const ADMITS = Object.keys(ADMIT);
export const PICKS = Object.keys(PICK);
export const DECIDES = Object.keys(DECIDE);

/** @throws Error for a name that is not in the table */
export const eligibilityOf = (admit: string, rules: Rules): Eligibility => known(ADMIT, admit)(rules);
/** @throws Error for a name that is not in the table */
export const orderOf = (pick: string): Order => known(PICK, pick);
/** @throws Error for a name that is not in the table */
export const decidingBy = (decide: string): Deciding => known(DECIDE, decide);

/** The columns of a court on which its strategies depend. */
export interface Ruled extends Pick<Rules, 'options' | 'panel' | 'margin' | 'probability' | 'quality'> {
  votes_to_win: number;
  max_votes: number | null;
  decide: string;
  pick: string;
}

/**
 * Judges the counted votes of a case by the settings of its court.
 * @param stage the panel that voted so far
 * @param ballots the votes with their voters' records, where the court goes by these
 * @throws Error for a strategy that is not in the tables
 */
export function verdictOf(court: Ruled, tally: Tally, stage: number, ballots?: Ballot[] | null) {
  const { votes_to_win: votesToWin, max_votes: maxVotes, decide, pick } = court;
  const judgement = decidingBy(decide).judge(tally, { ...court, votesToWin, maxVotes }, stage, ballots ?? undefined);
  return { ...judgement, priority: orderOf(pick).priority(judgement.votesLeft) };
}

function known<T>(table: Record<string, T>, name: string): T {
  const found = Object.hasOwn(table, name) ? table[name] : undefined;
  if (found === undefined) throw new Error(`there is no strategy ${name}`);
  return found;
}

/** The first with `need` votes wins, of `size` votes at most. A tie needs one vote more. */
function race(tally: Tally, need: number, size: number, stage: number): Judgement {
  const [leader, second] = byVotes(tally);
  const most = leader?.[1] ?? 0;
  if (leader && most >= need && most > (second?.[1] ?? 0))
    return { winner: leader[0], votesLeft: 0, stage, hung: false };
  const votesLeft = Math.max(1, need - most);
  return { winner: null, votesLeft, stage, hung: votesIn(tally) + votesLeft > size };
}
