import { type Ballot, type Deciding, type Tally, votesIn } from './deciding.ts';

/** Added to each record: a juror of whom nothing is known counts as right two times in three. */
const PRIOR = { judged: 3, agreed: 2 };
/** No juror counts as right more often: a record says how often they agreed with courts, which err. */
const BEST = 0.9;
/** Sums of logarithms that should be equal differ by less. */
const NOISE = 1e-9;

/** How much a vote speaks for its option, where wrong votes fall on all others alike; never against it. */
const weight = (accuracy: number, options: number): number =>
  Math.max(0, Math.log((Math.min(BEST, accuracy) * (options - 1)) / (1 - Math.min(BEST, accuracy))));

const accuracyOf = ({ judged, agreed }: Ballot) => (agreed + PRIOR.agreed) / (judged + PRIOR.judged);

const logOfSum = (logs: number[]): number => {
  const most = Math.max(...logs);
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
};

const ofUnknown = (tally: Tally): Ballot[] =>
  Object.entries(tally).flatMap(([option, n]) => Array.from({ length: n }, () => ({ option, judged: 0, agreed: 0 })));

/**
 * The leading option wins when it is right with a `probability` by the voters' records, all options being as likely
 * before the first vote; one vote alone decides nothing. The case hangs when no `maxVotes` could make one so probable.
 * `votesLeft` counts votes of the best jurors, so that none of those who hold the case reads it for nothing.
 */
export const posterior: Deciding = {
  needs: ['probability', 'maxVotes'],
  byRecords: true,
  judge(tally, { options, probability, maxVotes }, _stage, ballots = ofUnknown(tally)) {
    const scores = new Map([...options, ...Object.keys(tally)].map((option) => [option, 0]));
    for (const ballot of ballots)
      scores.set(ballot.option, (scores.get(ballot.option) ?? 0) + weight(accuracyOf(ballot), scores.size));
    const [[winner, most] = ['', 0], ...others] = [...scores].sort(([, a], [, b]) => b - a);
    const odds = most - logOfSum(others.map(([, score]) => score));
    const wanted = probability ?? BEST;
    const missing = Math.log(wanted / (1 - wanted)) - odds - NOISE;
    const cast = votesIn(tally);
    const votesLeft = Math.max(0, 2 - cast, Math.ceil(missing / weight(BEST, scores.size)));
    if (votesLeft === 0) return { winner, votesLeft, stage: 0, hung: false };
    return { winner: null, votesLeft, stage: 0, hung: cast + votesLeft > (maxVotes ?? Infinity) };
  },
};
