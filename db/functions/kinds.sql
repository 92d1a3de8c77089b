-- The properties of each kind of items, for the functions and statements that all kinds share. Generated from
-- domain/kinds.ts by `npm run statements`; `npm run check` fails when the file is out of date. Each function is one
-- plain expression, so that PostgreSQL can inline it.

-- The event with which a statement of the core ends an item: the word that its users know the state by.
create or replace function end_event(p_kind text, p_state text) returns text language sql immutable parallel safe as $$
  select case p_kind
    when 'ticket' then case p_state
      when 'settled' then 'decided'
      when 'invalidated' then 'invalidated'
      when 'expired' then 'expired'
      when 'dead' then 'dead' end
    when 'job' then case p_state
      when 'settled' then 'finished'
      when 'invalidated' then 'deleted' end
  end
$$;

-- Whether an item in this state may have this event, and then be in that state.
create or replace function is_transition(p_kind text, p_was text, p_event text, p_is text) returns boolean
language sql immutable parallel safe as $$
  select case p_kind
    when 'ticket' then case p_was
      when 'delayed' then p_event || ' ' || p_is in (
        'available ready', 'decided settled', 'synced settled', 'invalidated invalidated',
        'expired expired', 'changed delayed', 'escalated delayed', 'parked delayed', 'refused delayed',
        'noted delayed', 'transferred delayed')
      when 'ready' then p_event || ' ' || p_is in (
        'claimed held', 'decided settled', 'synced settled', 'invalidated invalidated', 'expired expired',
        'changed ready', 'escalated ready', 'parked ready', 'refused ready', 'noted ready',
        'transferred ready')
      when 'held' then p_event || ' ' || p_is in (
        'released ready', 'released delayed', 'skipped ready', 'skipped delayed', 'reclaimed ready',
        'transferred ready', 'dead dead', 'decided settled', 'synced settled', 'invalidated invalidated',
        'expired expired', 'changed held', 'escalated held', 'parked held', 'refused held',
        'noted held')
      when 'settled' then p_event || ' ' || p_is in (
        'delivered settled', 'delivery_failed settled', 'refused settled', 'noted settled',
        'erased settled')
      when 'invalidated' then p_event || ' ' || p_is in (
        'delivered invalidated', 'delivery_failed invalidated', 'refused invalidated', 'noted invalidated',
        'erased invalidated')
      when 'expired' then p_event || ' ' || p_is in (
        'delivered expired', 'delivery_failed expired', 'refused expired', 'noted expired',
        'erased expired')
      when 'dead' then p_event || ' ' || p_is in (
        'delivered dead', 'delivery_failed dead', 'refused dead', 'noted dead', 'erased dead') end
    when 'job' then case p_was
      when 'delayed' then p_event || ' ' || p_is in (
        'available ready', 'reserved held', 'kicked ready', 'buried buried', 'finished settled',
        'deleted invalidated', 'parked delayed', 'refused delayed')
      when 'ready' then p_event || ' ' || p_is in (
        'reserved held', 'buried buried', 'finished settled', 'deleted invalidated', 'refused ready')
      when 'held' then p_event || ' ' || p_is in (
        'released ready', 'released delayed', 'reclaimed ready', 'buried buried', 'finished settled',
        'deleted invalidated', 'parked held', 'refused held')
      when 'buried' then p_event || ' ' || p_is in (
        'reserved held', 'kicked ready', 'finished settled', 'deleted invalidated', 'refused buried')
      when 'settled' then p_event || ' ' || p_is in (
        'created ready', 'created delayed', 'refused settled', 'erased settled')
      when 'invalidated' then p_event || ' ' || p_is in (
        'created ready', 'created delayed', 'refused invalidated', 'erased invalidated') end
    when 'case' then case p_was
      when 'ready' then p_event || ' ' || p_is in (
        'claimed ready', 'invited ready', 'voted ready', 'released ready', 'skipped ready',
        'declined ready', 'reclaimed ready', 'extended ready', 'changed ready', 'parked ready',
        'refused ready', 'decided settled', 'hung expired', 'invalidated invalidated')
      when 'settled' then p_event || ' ' || p_is in (
        'delivered settled', 'delivery_failed settled', 'refused settled', 'erased settled')
      when 'expired' then p_event || ' ' || p_is in (
        'escalated expired', 'delivered expired', 'delivery_failed expired', 'refused expired',
        'erased expired')
      when 'invalidated' then p_event || ' ' || p_is in (
        'delivered invalidated', 'delivery_failed invalidated', 'refused invalidated', 'erased invalidated') end
    when 'task' then case p_was
      when 'delayed' then p_event || ' ' || p_is in (
        'available ready', 'changed delayed', 'changed expired', 'expired expired', 'cancelled invalidated',
        'parked delayed', 'refused delayed')
      when 'ready' then p_event || ' ' || p_is in (
        'dispatched ready', 'completed ready', 'completed settled', 'returned ready', 'returned settled',
        'returned expired', 'returned invalidated', 'changed ready', 'changed settled', 'changed expired',
        'expired ready', 'expired settled', 'expired expired', 'cancelled ready', 'cancelled settled',
        'cancelled invalidated', 'parked ready', 'refused ready')
      when 'settled' then p_event || ' ' || p_is in (
        'rescheduled ready', 'delivered settled', 'delivery_failed settled', 'refused settled',
        'erased settled')
      when 'expired' then p_event || ' ' || p_is in (
        'rescheduled ready', 'rescheduled delayed', 'refused expired', 'erased expired')
      when 'invalidated' then p_event || ' ' || p_is in (
        'rescheduled ready', 'rescheduled delayed', 'refused invalidated', 'erased invalidated') end
    when 'rotation' then case p_was
      when 'delayed' then p_event || ' ' || p_is in (
        'ended expired', 'deleted invalidated', 'changed delayed', 'parked delayed', 'refused delayed')
      when 'expired' then p_event || ' ' || p_is in (
        'changed delayed', 'refused expired', 'erased expired')
      when 'invalidated' then p_event || ' ' || p_is in (
        'refused invalidated', 'erased invalidated') end
  end
$$;

-- What becomes of an item whose last attempt ran out.
create or replace function exhausted_state(p_kind text) returns text language sql immutable parallel safe as $$
  select case p_kind when 'ticket' then 'dead' when 'job' then 'buried' end
$$;

-- What becomes of an item whose deadline is over; null where the clock of its kind says so itself.
create or replace function overdue_state(p_kind text) returns text language sql immutable parallel safe as $$
  select case p_kind when 'ticket' then 'expired' when 'job' then 'invalidated' end
$$;

-- Whether items are handed out by their priority alone, the lowest number first.
create or replace function ranks_by_number(p_kind text) returns boolean language sql immutable parallel safe as $$
  select p_kind in ('job')
$$;

-- The function that does what time does to a kind.
create or replace function clock_of(p_kind text) returns text language sql immutable parallel safe as $$
  select case p_kind
    when 'case' then 'advance_cases' when 'task' then 'advance_tasks' when 'rotation' then 'advance_rotations'
    else 'advance_items' end
$$;

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

create or replace function ids_of(p_kind text, p_kinds text[], p_ids text[]) returns text[] language sql immutable as $$
  select array(select p.id from unnest(p_kinds, p_ids) as p (kind, id) where p.kind = p_kind)
$$;
