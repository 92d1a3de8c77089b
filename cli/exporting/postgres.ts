import { openEventTable } from '../../db/export.ts';
import type { Target } from './target.ts';

/** Upserts into a table; the position is written in the same transaction. */
export async function openPostgres(url: string, table: string): Promise<Target> {
  const events = await openEventTable(url, table);
  return {
    name: table,
    position: events.position,
    write: (lines) => events.upsert(lines.map((line) => line.event)),
    close: events.close,
  };
}
