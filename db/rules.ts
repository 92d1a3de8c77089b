import type { Item } from './items.ts';
import type { Mover, Queryable } from './pool.ts';

/** What a queue's rules come to for one version of a ticket. */
export interface RuledTicket {
  id: string;
  version: number;
  priority: number;
  requires: string[];
  /** The rules that apply, by name or number. */
  rules: (string | number)[];
}

/** @returns the tickets to which it was applied: those that had not changed since, under settings of that version */
export const applyRules = (db: Mover, queue: string, settingsVersion: number, tickets: RuledTicket[]) =>
  db.move('apply_rules', [queue, settingsVersion, JSON.stringify(tickets)]);

export const rulesDue = (db: Queryable, limit: number) => db.run<Item>('rules_due', [limit]);

export type OpenTicket = Item & { waited: number };

/** All open tickets of a queue, in batches. */
export async function* openTickets(db: Queryable, queue: string, batch: number): AsyncGenerator<OpenTicket[]> {
  for (let last: [string, number] = ['-infinity', 0]; ; ) {
    const rows = await db.run<OpenTicket>('open_tickets', [queue, ...last, batch]);
    const end = rows.at(-1);
    if (!end) return;
    yield rows;
    last = [end.created_at.toISOString(), end.seq];
  }
}
