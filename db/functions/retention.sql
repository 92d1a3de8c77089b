-- Clears occurrences that ended longer ago than the retention time (S4.10), p_limit at a time. Their ids are forgotten with
-- them. Nothing of them is open, and their workflows have completed long ago.
create or replace function forget_tasks(p_before timestamptz, p_limit integer) returns integer language plpgsql
set enable_seqscan = off as $$
declare
  v_ids text[];
begin
  -- an occurrence's id ends with its time, so a task's oldest are the first of its range
  select array_agg(s.id) into v_ids from (
    select i.id from task t cross join lateral (
      select o.id from item o
       where o.kind = 'task' and o.id > t.id || '/' and o.id < t.id || '/' || iso_time(p_before)
         and o.ended_at < p_before and not o.telling
       order by o.id limit p_limit) i
     where t.start_time < p_before limit p_limit) s;
  perform forget_items('task', v_ids);

  -- tasks without occurrences, now or to come
  select array_agg(t.id) into v_ids from task t
   where t.start_time < p_before and t.updated_at < p_before
     and (t.type = 'once' or not exists (select from item r where r.kind = 'rotation' and r.id = t.id and (r.ended_at is null or r.ended_at >= p_before)))
     and not exists (select from item o where o.kind = 'task' and o.id > t.id || '/' and o.id < t.id || '0');
  perform forget_items('rotation', v_ids);
  delete from task where id = any (v_ids);
  return coalesce(cardinality(v_ids), 0);
end $$;

create or replace function forget_items(p_kind text, p_ids text[]) returns void language plpgsql as $$
declare
  v_events bigint[];
begin
  if p_ids is null then return; end if;
  -- the sequencer's lock (db/functions/feed.sql): it must not give a position to what is being cleared
  perform pg_advisory_xact_lock(7236003);
  insert into tally_line (kind, queue, what, n)
  select kind, queue, state, -count(*) from item where kind = p_kind and id = any (p_ids) group by kind, queue, state;
  with gone as (delete from event where kind = p_kind and item_id = any (p_ids) returning id)
  select array_agg(id) into v_events from gone;
  delete from feed where event_id = any (v_events);
  delete from lease where kind = p_kind and item_id = any (p_ids);
  delete from delivery where kind = p_kind and item_id = any (p_ids);
  delete from item where kind = p_kind and id = any (p_ids);
end $$;
