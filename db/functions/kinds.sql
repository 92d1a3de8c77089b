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
  select '{
    "ticket none created ready": 0, "ticket none created delayed": 0,
    "ticket delayed available ready": 0, "ticket delayed decided settled": 0,
    "ticket delayed synced settled": 0, "ticket delayed invalidated invalidated": 0,
    "ticket delayed expired expired": 0, "ticket delayed transferred delayed": 0,
    "ticket delayed transferred invalidated": 0, "ticket delayed changed delayed": 0,
    "ticket delayed escalated delayed": 0, "ticket delayed overdue delayed": 0,
    "ticket delayed parked delayed": 0, "ticket delayed refused delayed": 0,
    "ticket delayed noted delayed": 0, "ticket ready claimed held": 0,
    "ticket ready decided settled": 0, "ticket ready synced settled": 0,
    "ticket ready invalidated invalidated": 0, "ticket ready expired expired": 0,
    "ticket ready transferred ready": 0, "ticket ready transferred invalidated": 0,
    "ticket ready changed ready": 0, "ticket ready escalated ready": 0,
    "ticket ready overdue ready": 0, "ticket ready parked ready": 0,
    "ticket ready refused ready": 0, "ticket ready noted ready": 0,
    "ticket held released ready": 0, "ticket held released delayed": 0,
    "ticket held skipped ready": 0, "ticket held skipped delayed": 0,
    "ticket held skipped invalidated": 0, "ticket held reclaimed ready": 0,
    "ticket held transferred ready": 0, "ticket held transferred invalidated": 0,
    "ticket held dead dead": 0, "ticket held decided settled": 0,
    "ticket held synced settled": 0, "ticket held invalidated invalidated": 0,
    "ticket held expired expired": 0, "ticket held changed held": 0,
    "ticket held escalated held": 0, "ticket held overdue held": 0,
    "ticket held parked held": 0, "ticket held refused held": 0, "ticket held noted held": 0,
    "ticket settled delivered settled": 0, "ticket settled delivery_failed settled": 0,
    "ticket settled refused settled": 0, "ticket settled noted settled": 0,
    "ticket settled erased settled": 0, "ticket settled upheld settled": 0,
    "ticket settled overturned settled": 0, "ticket settled look_ended settled": 0,
    "ticket settled disputed settled": 0, "ticket invalidated delivered invalidated": 0,
    "ticket invalidated delivery_failed invalidated": 0, "ticket invalidated refused invalidated": 0,
    "ticket invalidated noted invalidated": 0, "ticket invalidated erased invalidated": 0,
    "ticket expired delivered expired": 0, "ticket expired delivery_failed expired": 0,
    "ticket expired refused expired": 0, "ticket expired noted expired": 0,
    "ticket expired erased expired": 0, "ticket dead delivered dead": 0,
    "ticket dead delivery_failed dead": 0, "ticket dead refused dead": 0,
    "ticket dead noted dead": 0, "ticket dead erased dead": 0, "job none created ready": 0,
    "job none created delayed": 0, "job delayed available ready": 0,
    "job delayed reserved held": 0, "job delayed kicked ready": 0,
    "job delayed buried buried": 0, "job delayed finished settled": 0,
    "job delayed deleted invalidated": 0, "job delayed parked delayed": 0,
    "job delayed refused delayed": 0, "job ready reserved held": 0,
    "job ready buried buried": 0, "job ready finished settled": 0,
    "job ready deleted invalidated": 0, "job ready refused ready": 0,
    "job held released ready": 0, "job held released delayed": 0,
    "job held reclaimed ready": 0, "job held buried buried": 0, "job held finished settled": 0,
    "job held deleted invalidated": 0, "job held parked held": 0,
    "job held refused held": 0, "job buried reserved held": 0, "job buried kicked ready": 0,
    "job buried finished settled": 0, "job buried deleted invalidated": 0,
    "job buried refused buried": 0, "job settled created ready": 0,
    "job settled created delayed": 0, "job settled refused settled": 0,
    "job settled erased settled": 0, "job invalidated created ready": 0,
    "job invalidated created delayed": 0, "job invalidated refused invalidated": 0,
    "job invalidated erased invalidated": 0, "case none created ready": 0,
    "case ready claimed ready": 0, "case ready invited ready": 0,
    "case ready voted ready": 0, "case ready released ready": 0, "case ready skipped ready": 0,
    "case ready declined ready": 0, "case ready reclaimed ready": 0,
    "case ready extended ready": 0, "case ready changed ready": 0,
    "case ready parked ready": 0, "case ready refused ready": 0, "case ready decided settled": 0,
    "case ready hung expired": 0, "case ready invalidated invalidated": 0,
    "case settled delivered settled": 0, "case settled delivery_failed settled": 0,
    "case settled refused settled": 0, "case settled erased settled": 0,
    "case settled upheld settled": 0, "case settled overturned settled": 0,
    "case settled look_ended settled": 0, "case expired escalated expired": 0,
    "case expired delivered expired": 0, "case expired delivery_failed expired": 0,
    "case expired refused expired": 0, "case expired erased expired": 0,
    "case invalidated delivered invalidated": 0, "case invalidated delivery_failed invalidated": 0,
    "case invalidated refused invalidated": 0, "case invalidated erased invalidated": 0,
    "task none created ready": 0, "task none created delayed": 0,
    "task delayed available ready": 0, "task delayed changed delayed": 0,
    "task delayed changed expired": 0, "task delayed expired expired": 0,
    "task delayed cancelled invalidated": 0, "task delayed parked delayed": 0,
    "task delayed refused delayed": 0, "task ready dispatched ready": 0,
    "task ready completed ready": 0, "task ready completed settled": 0,
    "task ready returned ready": 0, "task ready returned settled": 0,
    "task ready returned expired": 0, "task ready returned invalidated": 0,
    "task ready changed ready": 0, "task ready changed settled": 0,
    "task ready changed expired": 0, "task ready expired ready": 0,
    "task ready expired settled": 0, "task ready expired expired": 0,
    "task ready cancelled ready": 0, "task ready cancelled settled": 0,
    "task ready cancelled invalidated": 0, "task ready parked ready": 0,
    "task ready refused ready": 0, "task settled rescheduled ready": 0,
    "task settled delivered settled": 0, "task settled delivery_failed settled": 0,
    "task settled refused settled": 0, "task settled erased settled": 0,
    "task expired rescheduled ready": 0, "task expired rescheduled delayed": 0,
    "task expired refused expired": 0, "task expired erased expired": 0,
    "task invalidated rescheduled ready": 0, "task invalidated rescheduled delayed": 0,
    "task invalidated refused invalidated": 0, "task invalidated erased invalidated": 0,
    "rotation none created delayed": 0, "rotation delayed ended expired": 0,
    "rotation delayed deleted invalidated": 0, "rotation delayed changed delayed": 0,
    "rotation delayed parked delayed": 0, "rotation delayed refused delayed": 0,
    "rotation expired changed delayed": 0, "rotation expired refused expired": 0,
    "rotation expired erased expired": 0, "rotation invalidated refused invalidated": 0,
    "rotation invalidated erased invalidated": 0
  }'::jsonb ? (p_kind || ' ' || p_was || ' ' || p_event || ' ' || p_is)
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
