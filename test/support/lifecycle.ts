import { KINDS } from '../../contract/kinds.ts';
import type { Kind } from '../../contract/snapshot.ts';
import { transitionsOf } from '../../domain/lifecycle.ts';
import { onDatabase, rowsOf } from './database.ts';

/** A transition as a database made it; `none`: the item was added, and no event: its state changed without one. */
export interface SeenTransition {
  kind: Kind;
  from: string;
  event: string;
  to: string;
}

// Not `on conflict do nothing`: that waits for whoever inserts the same row, and transactions that wait for each other
// here would be deadlocks that Docket does not have. A row may so be there twice.
const RECORDER = `
  create unlogged table seen_transition (kind text, before text, event text, after text);
  create index on seen_transition (kind, before, event, after);
  create function record_transition() returns trigger language plpgsql security definer as $$
  declare
    v_before text := case tg_op when 'INSERT' then 'none' else old.state end;
    v_event text := case when tg_op = 'INSERT' or new.event_seq > old.event_seq then new.last_event else '' end;
  begin
    if not exists (select from public.seen_transition s
                    where s.kind = new.kind and s.before = v_before and s.event = v_event and s.after = new.state) then
      insert into public.seen_transition values (new.kind, v_before, v_event, new.state);
    end if;
    return null;
  end $$;
  create trigger record_insert after insert on item for each row execute function record_transition();
  create trigger record_update after update on item for each row
    when (new.state <> old.state or new.event_seq > old.event_seq) execute function record_transition();`;

/** Makes a test's database remember every transition of its items, each once. */
export const recordTransitions = (databaseUrl: string) => onDatabase(databaseUrl, (client) => client.query(RECORDER));

export const seenTransitions = (databaseUrl: string): Promise<SeenTransition[]> =>
  rowsOf(databaseUrl, `select distinct kind, before as "from", event, after as "to" from seen_transition`);

const nameOf = ({ kind, from, event, to }: SeenTransition) => `${kind}: ${from} —${event || '(no event)'}→ ${to}`;

const KNOWN = new Set(KINDS.flatMap((kind) => transitionsOf(kind).map((t) => nameOf({ kind, ...t }))));

/** Those that domain/lifecycle.ts does not have, as text. */
export const unknownAmong = (seen: SeenTransition[]): string[] => seen.map(nameOf).filter((name) => !KNOWN.has(name));
