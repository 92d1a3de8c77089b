import type { CaseItem } from '../contract/items.ts';
import { stateWord } from './items.ts';

/** A case as the API shows it. A gold case looks like one on which its last juror alone has voted. */
export function caseView(item: CaseItem) {
  const ended = item.ended_at?.toISOString() ?? null;
  const decided = item.state === 'settled';
  return {
    id: item.id,
    court: item.queue,
    state: stateWord('case', item.state),
    parties: item.parties,
    body: item.body,
    tally: { ...Object.fromEntries(item.options.map((option) => [option, 0])), ...item.tally },
    votesLeft: item.votes_left,
    winner: item.winner,
    holds: item.gold === null ? item.holds : Math.min(item.holds, 1),
    wasted: item.wasted,
    version: item.version,
    createdAt: item.created_at.toISOString(),
    deadlineAt: item.deadline_at?.toISOString() ?? null,
    decidedAt: decided ? ended : null,
    endedAt: ended,
    endReason: item.end_reason,
  };
}
