-- What producers do with open cases (S2): change, resolve and close them.

-- The persons who are parties: the one that was sent, or the one in today's list, or a person of its own.
create or replace function party_persons(c court, p_parties jsonb) returns text[] language sql stable as $$
  select array(select coalesce(p ->> 'person', j.person, p ->> 'id') from jsonb_array_elements(p_parties) p
                 left join juror j on j.court = c.name and j.list = c.list and j.id = p ->> 'id')
$$;

create or replace function party_ids(p_parties jsonb) returns text[] language sql immutable
  return array(select p ->> 'id' from jsonb_array_elements(p_parties) p);

-- Changes an open case, also while it is held. A holder who is a party now loses the hold; the others are notified.
-- p_change  {body?, parties?, deadlineAt?}
-- Returns whether the case was open.
create or replace function change_case(p_id text, p_change json, p_actor text) returns boolean language plpgsql as $$
declare
  v_change jsonb := p_change;
  v_parties jsonb := v_change -> 'parties';
  v_court text;
begin
  -- a hold is either granted by the parties of now, or found and ended here
  if v_parties is not null then
    perform lock_jurors(queue, true) from item where kind = 'case' and id = p_id;
  end if;
  select queue into v_court from item where kind = 'case' and id = p_id and ended_at is null for update;
  if not found then return false; end if;
  update item
     set body = coalesce(p_change -> 'body', body), own_deadline = own_deadline or v_change ? 'deadlineAt',
         deadline_at = case when v_change ? 'deadlineAt' then (v_change ->> 'deadlineAt')::timestamptz
                            else deadline_at end
   where kind = 'case' and id = p_id;
  update case_file f
     set parties = v_parties, party_ids = party_ids(v_parties) || deciders_of(i.look),
         party_persons = party_persons(c, v_parties) || deciders_of(i.look)
    from court c, item i
   where f.id = p_id and c.name = f.court and i.kind = 'case' and i.id = f.id and v_parties is not null;
  perform recompute_cases(array[(p_id, p_actor, json_build_object('changed', p_change), null)::item_line],
                          'changed', clock_timestamp());
  if v_parties is not null then perform end_barred_holds(v_court, null, p_id); end if;
  insert into notice (kind, item_id, queue, person, type, data)
  select 'case', p_id, l.queue, l.holder, 'changed', json_build_object('version', i.version)
    from item i join lease l on l.kind = 'case' and l.item_id = i.id and l.ended_at is null
   where i.kind = 'case' and i.id = p_id;
  return true;
end $$;

-- Ends open cases that need not be judged any more; one with a winner is decided from outside. Their holders lose them.
-- Returns their ids.
create or replace function close_cases(p_ids text[], p_reason text, p_actor text, p_winner text)
returns setof text language plpgsql as $$
declare
  v_ids text[] := array(
    select id from item where kind = 'case' and id = any (p_ids) and ended_at is null order by id for update);
begin
  if v_ids = '{}' then return; end if;
  perform end_cases(v_ids, case when p_winner is null then 'invalidated' else 'settled' end,
                    case when p_winner is null then 'invalidated' else 'decided' end,
                    array[p_winner], p_actor, p_reason, clock_timestamp());
  return query select unnest(v_ids);
end $$;
