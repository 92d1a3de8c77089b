import type { Item } from '../contract/items.ts';
import { isFinal, stateWord } from './items.ts';

/** The item as it is, with the lease that the refused call named. */
export interface Attempted extends Item {
  named_holder: string | null;
  named_ended_at: Date | null;
  named_why: string | null;
}

export type Refusal =
  | { code: 'not_open'; detail: string; state: string; by: string | null; at: string | null; reason: string | null }
  | { code: 'lease_lost'; detail: string; holder: string | null; endedAt: string | null; reason: string };

/** Why a call with a lease token, or one that needs an open item, changed nothing: by whom, when, for what reason (S0.7). */
export function refusalOf(item: Attempted): Refusal {
  if (isFinal(item.state)) {
    const state = stateWord(item.kind, item.state);
    const settled = item.named_why === 'settled' ? 'settled' : null;
    return {
      code: 'not_open',
      detail: item.ended_by === null ? `it is ${state}` : `it is ${state} by ${item.ended_by}`,
      state,
      by: item.ended_by,
      at: item.ended_at?.toISOString() ?? null,
      reason: item.end_reason ?? settled,
    };
  }
  const reason = lostReason(item);
  const ended = item.named_ended_at?.toISOString() ?? null;
  return {
    code: 'lease_lost',
    detail:
      ended !== null
        ? `the lease ended (${reason}) at ${ended}`
        : item.named_holder === null
          ? 'the token is of no lease of this item'
          : 'the lease has run out',
    holder: item.holder,
    endedAt: ended,
    reason,
  };
}

/**
 * A lease that has not ended but was rejected has run out, and no clock has ended it yet. A token of no lease of this item
 * counts as revoked: a restore from a backup may have removed its lease. An item that was ended under its holder is
 * final, so `closed` shows as revoked only after a repair by hand.
 */
function lostReason({ named_why, named_holder }: Attempted): string {
  if (named_why === null) return named_holder === null ? 'revoked' : 'expired';
  return named_why === 'closed' ? 'revoked' : named_why;
}
