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
      when 'delayed' then case p_is
        when 'ready' then p_event in ('available')
        when 'settled' then p_event in ('decided', 'synced')
        when 'invalidated' then p_event in ('invalidated')
        when 'expired' then p_event in ('expired')
        when 'delayed' then p_event in ('changed', 'escalated', 'parked', 'refused', 'noted', 'transferred') end
      when 'ready' then case p_is
        when 'held' then p_event in ('claimed')
        when 'settled' then p_event in ('decided', 'synced')
        when 'invalidated' then p_event in ('invalidated')
        when 'expired' then p_event in ('expired')
        when 'ready' then p_event in ('changed', 'escalated', 'parked', 'refused', 'noted', 'transferred') end
      when 'held' then case p_is
        when 'ready' then p_event in ('released', 'skipped', 'reclaimed', 'transferred')
        when 'delayed' then p_event in ('released', 'skipped')
        when 'dead' then p_event in ('dead')
        when 'settled' then p_event in ('decided', 'synced')
        when 'invalidated' then p_event in ('invalidated')
        when 'expired' then p_event in ('expired')
        when 'held' then p_event in ('changed', 'escalated', 'parked', 'refused', 'noted') end
      when 'settled' then case p_is
        when 'settled' then p_event in ('delivered', 'delivery_failed', 'refused', 'noted', 'erased') end
      when 'invalidated' then case p_is
        when 'invalidated' then p_event in ('delivered', 'delivery_failed', 'refused', 'noted', 'erased') end
      when 'expired' then case p_is
        when 'expired' then p_event in ('delivered', 'delivery_failed', 'refused', 'noted', 'erased') end
      when 'dead' then case p_is
        when 'dead' then p_event in ('delivered', 'delivery_failed', 'refused', 'noted', 'erased') end end
    when 'job' then case p_was
      when 'delayed' then case p_is
        when 'ready' then p_event in ('available', 'kicked')
        when 'held' then p_event in ('reserved')
        when 'buried' then p_event in ('buried')
        when 'settled' then p_event in ('finished')
        when 'invalidated' then p_event in ('deleted')
        when 'delayed' then p_event in ('parked', 'refused') end
      when 'ready' then case p_is
        when 'held' then p_event in ('reserved')
        when 'buried' then p_event in ('buried')
        when 'settled' then p_event in ('finished')
        when 'invalidated' then p_event in ('deleted')
        when 'ready' then p_event in ('refused') end
      when 'held' then case p_is
        when 'ready' then p_event in ('released', 'reclaimed')
        when 'delayed' then p_event in ('released')
        when 'buried' then p_event in ('buried')
        when 'settled' then p_event in ('finished')
        when 'invalidated' then p_event in ('deleted')
        when 'held' then p_event in ('parked', 'refused') end
      when 'buried' then case p_is
        when 'held' then p_event in ('reserved')
        when 'ready' then p_event in ('kicked')
        when 'settled' then p_event in ('finished')
        when 'invalidated' then p_event in ('deleted')
        when 'buried' then p_event in ('refused') end
      when 'settled' then case p_is
        when 'ready' then p_event in ('created')
        when 'delayed' then p_event in ('created')
        when 'settled' then p_event in ('refused', 'erased') end
      when 'invalidated' then case p_is
        when 'ready' then p_event in ('created')
        when 'delayed' then p_event in ('created')
        when 'invalidated' then p_event in ('refused', 'erased') end end
    when 'case' then case p_was
      when 'ready' then case p_is
        when 'ready' then p_event in ('claimed', 'invited', 'voted', 'released', 'skipped', 'declined', 'reclaimed',
          'extended', 'changed', 'parked', 'refused')
        when 'settled' then p_event in ('decided')
        when 'expired' then p_event in ('hung')
        when 'invalidated' then p_event in ('invalidated') end
      when 'settled' then case p_is
        when 'settled' then p_event in ('delivered', 'delivery_failed', 'refused', 'erased') end
      when 'expired' then case p_is
        when 'expired' then p_event in ('escalated', 'delivered', 'delivery_failed', 'refused', 'erased') end
      when 'invalidated' then case p_is
        when 'invalidated' then p_event in ('delivered', 'delivery_failed', 'refused', 'erased') end end
    when 'task' then case p_was
      when 'delayed' then case p_is
        when 'ready' then p_event in ('available')
        when 'delayed' then p_event in ('changed', 'parked', 'refused')
        when 'expired' then p_event in ('changed', 'expired')
        when 'invalidated' then p_event in ('cancelled') end
      when 'ready' then case p_is
        when 'ready' then p_event in ('dispatched', 'completed', 'returned', 'changed', 'expired', 'cancelled', 'parked',
          'refused')
        when 'settled' then p_event in ('completed', 'returned', 'changed', 'expired', 'cancelled')
        when 'expired' then p_event in ('returned', 'changed', 'expired')
        when 'invalidated' then p_event in ('returned', 'cancelled') end
      when 'settled' then case p_is
        when 'ready' then p_event in ('rescheduled')
        when 'settled' then p_event in ('delivered', 'delivery_failed', 'refused', 'erased') end
      when 'expired' then case p_is
        when 'ready' then p_event in ('rescheduled')
        when 'delayed' then p_event in ('rescheduled')
        when 'expired' then p_event in ('refused', 'erased') end
      when 'invalidated' then case p_is
        when 'ready' then p_event in ('rescheduled')
        when 'delayed' then p_event in ('rescheduled')
        when 'invalidated' then p_event in ('refused', 'erased') end end
    when 'rotation' then case p_was
      when 'delayed' then case p_is
        when 'expired' then p_event in ('ended')
        when 'invalidated' then p_event in ('deleted')
        when 'delayed' then p_event in ('changed', 'parked', 'refused') end
      when 'expired' then case p_is
        when 'delayed' then p_event in ('changed')
        when 'expired' then p_event in ('refused', 'erased') end
      when 'invalidated' then case p_is
        when 'invalidated' then p_event in ('refused', 'erased') end end
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
