-- The properties of each kind of items, for the functions and statements that all kinds share. Generated from
-- domain/kinds.ts by `npm run statements`; `npm run check` fails when the file is out of date. Each function is one
-- plain expression, so that PostgreSQL can inline it.

-- The event with which a statement of the core ends an item: the word that its users know the state by.
create or replace function end_event(p_kind text, p_state text) returns text language sql immutable parallel safe
  return '{
    "ticket settled": "decided", "ticket invalidated": "invalidated", "ticket expired": "expired",
    "ticket dead": "dead", "job settled": "finished", "job invalidated": "deleted"
  }'::jsonb ->> (p_kind || ' ' || p_state);

-- Whether an item in this state may have this event, and then be in that state.
create or replace function is_transition(p_kind text, p_was text, p_event text, p_is text) returns boolean
language sql immutable parallel safe
  return coalesce('{
    "ticket delayed ready": ["available"], "ticket delayed settled": ["decided", "synced"],
    "ticket delayed invalidated": ["invalidated", "transferred"], "ticket delayed expired": ["expired"],
    "ticket delayed delayed": ["transferred", "changed", "escalated", "overdue", "parked", "refused", "noted"],
    "ticket ready held": ["claimed"], "ticket ready settled": ["decided", "synced"],
    "ticket ready invalidated": ["invalidated", "transferred"], "ticket ready expired": ["expired"],
    "ticket ready ready": ["transferred", "changed", "escalated", "overdue", "parked", "refused", "noted"],
    "ticket held ready": ["released", "skipped", "reclaimed", "transferred"], "ticket held delayed": ["released",
    "skipped"], "ticket held invalidated": ["skipped", "transferred", "invalidated"],
    "ticket held dead": ["dead"], "ticket held settled": ["decided", "synced"],
    "ticket held expired": ["expired"], "ticket held held": ["changed", "escalated", "overdue", "parked",
    "refused", "noted"], "ticket settled settled": ["delivered", "delivery_failed", "refused", "noted", "erased",
    "upheld", "overturned", "look_ended", "disputed"], "ticket invalidated invalidated": ["delivered",
    "delivery_failed", "refused", "noted", "erased"], "ticket expired expired": ["delivered", "delivery_failed",
    "refused", "noted", "erased"], "ticket dead dead": ["delivered", "delivery_failed", "refused", "noted",
    "erased"], "job delayed ready": ["available", "kicked"], "job delayed held": ["reserved"],
    "job delayed buried": ["buried"], "job delayed settled": ["finished"], "job delayed invalidated": ["deleted"],
    "job delayed delayed": ["parked", "refused"], "job ready held": ["reserved"], "job ready buried": ["buried"],
    "job ready settled": ["finished"], "job ready invalidated": ["deleted"], "job ready ready": ["refused"],
    "job held ready": ["released", "reclaimed"], "job held delayed": ["released"], "job held buried": ["buried"],
    "job held settled": ["finished"], "job held invalidated": ["deleted"], "job held held": ["parked", "refused"],
    "job buried held": ["reserved"], "job buried ready": ["kicked"], "job buried settled": ["finished"],
    "job buried invalidated": ["deleted"], "job buried buried": ["refused"], "job settled ready": ["created"],
    "job settled delayed": ["created"], "job settled settled": ["refused", "erased"],
    "job invalidated ready": ["created"], "job invalidated delayed": ["created"],
    "job invalidated invalidated": ["refused", "erased"], "case ready ready": ["claimed", "invited", "voted",
    "released", "skipped", "declined", "reclaimed", "extended", "changed", "parked", "refused"],
    "case ready settled": ["decided"], "case ready expired": ["hung"], "case ready invalidated": ["invalidated"],
    "case settled settled": ["delivered", "delivery_failed", "refused", "erased", "upheld", "overturned",
    "look_ended"], "case expired expired": ["escalated", "delivered", "delivery_failed", "refused", "erased"],
    "case invalidated invalidated": ["delivered", "delivery_failed", "refused", "erased"],
    "task delayed ready": ["available"], "task delayed delayed": ["changed", "parked", "refused"],
    "task delayed expired": ["changed", "expired"], "task delayed invalidated": ["cancelled"],
    "task ready ready": ["dispatched", "completed", "returned", "changed", "expired", "cancelled", "parked",
    "refused"], "task ready settled": ["completed", "returned", "changed", "expired", "cancelled"],
    "task ready expired": ["returned", "changed", "expired"], "task ready invalidated": ["returned", "cancelled"],
    "task settled ready": ["rescheduled"], "task settled settled": ["delivered", "delivery_failed", "refused",
    "erased"], "task expired ready": ["rescheduled"], "task expired delayed": ["rescheduled"],
    "task expired expired": ["refused", "erased"], "task invalidated ready": ["rescheduled"],
    "task invalidated delayed": ["rescheduled"], "task invalidated invalidated": ["refused", "erased"],
    "rotation delayed expired": ["ended"], "rotation delayed invalidated": ["deleted"],
    "rotation delayed delayed": ["changed", "parked", "refused"], "rotation expired delayed": ["changed"],
    "rotation expired expired": ["refused", "erased"], "rotation invalidated invalidated": ["refused", "erased"]
  }'::jsonb -> (p_kind || ' ' || p_was || ' ' || p_is) ? p_event, false);

-- What becomes of an item whose last attempt ran out.
create or replace function exhausted_state(p_kind text) returns text language sql immutable parallel safe
  return case p_kind when 'ticket' then 'dead' when 'job' then 'buried' end;

-- What becomes of an item whose deadline is over; null where the clock of its kind says so itself.
create or replace function overdue_state(p_kind text) returns text language sql immutable parallel safe
  return case p_kind when 'ticket' then 'expired' when 'job' then 'invalidated' end;

-- Whether items are handed out by their priority alone, the lowest number first.
create or replace function ranks_by_number(p_kind text) returns boolean language sql immutable parallel safe
  return p_kind in ('job');

-- The function that does what time does to a kind.
create or replace function clock_of(p_kind text) returns text language sql immutable parallel safe
  return case p_kind
    when 'case' then 'advance_cases' when 'task' then 'advance_tasks' when 'rotation' then 'advance_rotations'
    else 'advance_items' end;

-- What time does to items of all kinds.
create or replace function advance(p_kinds text[], p_ids text[]) returns setof item language plpgsql as $$
begin
  return query select * from advance_items(p_kinds, p_ids);
  if 'case' = any (p_kinds) then
    return query select * from advance_cases(ids_of('case', p_kinds, p_ids));
  end if;
  if 'task' = any (p_kinds) then
    return query select * from advance_tasks(ids_of('task', p_kinds, p_ids));
  end if;
  if 'rotation' = any (p_kinds) then
    return query select * from advance_rotations(ids_of('rotation', p_kinds, p_ids));
  end if;
end $$;

create or replace function ids_of(p_kind text, p_kinds text[], p_ids text[]) returns text[] language sql immutable
  return array(select p.id from unnest(p_kinds, p_ids) as p (kind, id) where p.kind = p_kind);
