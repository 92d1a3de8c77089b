import { byVotes, type Deciding, votesIn } from './deciding.ts';

/** The leader wins when it leads by `margin` votes; the case hangs when nobody can within `maxVotes`. */
export const margin: Deciding = {
  needs: ['margin', 'maxVotes'],
  judge(tally, { margin: lead, maxVotes }) {
    const [leader, second] = byVotes(tally);
    const votesLeft = Math.max(0, (lead ?? 1) - (leader?.[1] ?? 0) + (second?.[1] ?? 0));
    if (leader && votesLeft === 0) return { winner: leader[0], votesLeft, stage: 0, hung: false };
    return { winner: null, votesLeft, stage: 0, hung: votesIn(tally) + votesLeft > (maxVotes ?? Infinity) };
  },
};
