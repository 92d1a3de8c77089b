import { writeFileSync } from 'node:fs';
import { KINDS } from '../contract/kinds.ts';
import type { CoreState, Kind } from '../contract/snapshot.ts';
import { isFinal } from '../domain/items.ts';
import type { KindOf } from '../domain/kind.ts';
import { kindOf } from '../domain/kinds.ts';
import { transitionsOf } from '../domain/lifecycle.ts';
import { committed, differences } from './architecture/drift.ts';

const FILE = new URL('../db/functions/kinds.sql', import.meta.url);
const HEADER = `-- The properties of each kind of items, for the functions and statements that all kinds share. Generated from
-- domain/kinds.ts by \`npm run statements\`; \`npm run check\` fails when the file is out of date. Each function is one
-- plain expression, so that PostgreSQL can inline it.`;

const quoted = (text: string) => `'${text}'`;
const all: [Kind, KindOf][] = KINDS.map((kind) => [kind, kindOf(kind)]);
const leasedByOne = all.filter(([, { leased }]) => leased === 'one');
/** The clock that does what time does to items that are leased by one at a time. */
const COMMON = 'advance_items';
const ownClocks = all.filter(([, { clock }]) => clock !== COMMON);

/** Of all kinds the events by what an item was before and is then. One that is added has no state before. */
function transitions(): string {
  const events = new Map<string, string[]>();
  for (const kind of KINDS)
    for (const { from, event, to } of transitionsOf(kind)) {
      const key = `${kind} ${from} ${to}`;
      if (from !== 'none') events.set(key, [...(events.get(key) ?? []), event]);
    }
  return wrapped([...events].map(([key, names]) => `"${key}": ${JSON.stringify(names).replaceAll(',', ', ')}`));
}

const wrapped = (entries: string[]) =>
  (entries.join(', ').match(/.{1,110}(?:,(?= )|$)/g) ?? []).map((line) => line.trim()).join('\n    ');

function kindsSql(): string {
  const words = leasedByOne.flatMap(([kind, { words }]) => {
    const ends = Object.entries(words).filter(([state]) => isFinal(state as CoreState));
    return ends.map(([state, word]) => `"${kind} ${state}": "${word}"`);
  });
  const exhausted = all.flatMap(([kind, k]) =>
    k.exhausted ? [`when ${quoted(kind)} then ${quoted(k.exhausted)}`] : [],
  );
  const overdue = all.flatMap(([kind, k]) => (k.overdue ? [`when ${quoted(kind)} then ${quoted(k.overdue)}`] : []));
  const byNumber = all.filter(([, { order }]) => order === 'number').map(([kind]) => quoted(kind));
  const clocks = ownClocks.map(([kind, { clock }]) => `when ${quoted(kind)} then ${quoted(clock)}`);
  const advance = ownClocks.map(
    ([kind, { clock }]) =>
      `  if ${quoted(kind)} = any (p_kinds) then
    return query select * from ${clock}(ids_of(${quoted(kind)}, p_kinds, p_ids));
  end if;`,
  );
  return `${HEADER}

-- The event with which a statement of the core ends an item: the word that its users know the state by.
create or replace function end_event(p_kind text, p_state text) returns text language sql immutable parallel safe
  return '{
    ${wrapped(words)}
  }'::jsonb ->> (p_kind || ' ' || p_state);

-- Whether an item in this state may have this event, and then be in that state.
create or replace function is_transition(p_kind text, p_was text, p_event text, p_is text) returns boolean
language sql immutable parallel safe
  return coalesce('{
    ${transitions()}
  }'::jsonb -> (p_kind || ' ' || p_was || ' ' || p_is) ? p_event, false);

-- What becomes of an item whose last attempt ran out.
create or replace function exhausted_state(p_kind text) returns text language sql immutable parallel safe
  return case p_kind ${exhausted.join(' ')} end;

-- What becomes of an item whose deadline is over; null where the clock of its kind says so itself.
create or replace function overdue_state(p_kind text) returns text language sql immutable parallel safe
  return case p_kind ${overdue.join(' ')} end;

-- Whether items are handed out by their priority alone, the lowest number first.
create or replace function ranks_by_number(p_kind text) returns boolean language sql immutable parallel safe
  return p_kind in (${byNumber.join(', ')});

-- The function that does what time does to a kind.
create or replace function clock_of(p_kind text) returns text language sql immutable parallel safe
  return case p_kind
    ${clocks.join(' ')}
    else '${COMMON}' end;

-- What time does to items of all kinds.
create or replace function advance(p_kinds text[], p_ids text[]) returns setof item language plpgsql as $$
begin
  return query select * from ${COMMON}(p_kinds, p_ids);
${advance.join('\n')}
end $$;

create or replace function ids_of(p_kind text, p_kinds text[], p_ids text[]) returns text[] language sql immutable
  return array(select p.id from unnest(p_kinds, p_ids) as p (kind, id) where p.kind = p_kind);
`;
}

/** What is different between the committed functions and the table of kinds. */
export const checkKinds = (): string[] => differences('db/functions/kinds.sql', committed(FILE), kindsSql());

/** Before a database is made: functions and statements are described as they are in it. */
export const writeKinds = (): void => writeFileSync(FILE, kindsSql());
