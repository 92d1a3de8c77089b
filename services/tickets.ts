import type { Item } from '../contract/items.ts';
import { claimItems } from '../db/queues.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { share, sharePerGroup } from './batching.ts';
import { newToken } from './tokens.ts';

/** One person's turn at a queue, for one item. */
export interface PlainClaim {
  person: string;
  token: string;
}

export interface TicketService {
  /** Claims one ticket without skills, together with whoever asks at the same time; what the person holds comes too. */
  claim(queue: string, person: string): Promise<{ rows: Item[]; token: string }>;
}

export function ticketService(runtime: Runtime): TicketService {
  const claimAt = sharedClaims(runtime);
  return {
    async claim(queue, person) {
      const token = newToken();
      return { rows: await claimAt(queue, { person, token }), token };
    },
  };
}

/** Per queue, because a statement hands out items of one queue only. */
function sharedClaims({ db }: Runtime) {
  return sharePerGroup<PlainClaim, Item[]>((queue) =>
    share(
      async (batch) => {
        const tokens = batch.map((c) => c.token);
        const persons = batch.map((c) => c.person);
        const claim = { kind: 'ticket' as const, queue, persons, tokens, count: 1, skills: [], resume: true };
        const rows = await claimItems(db, claim);
        return batch.map((c) => rows.filter((r) => r.holder === c.person));
      },
      { keys: (c) => [c.person] },
    ),
  );
}
