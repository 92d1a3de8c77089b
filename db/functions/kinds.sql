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
