-- Which occurrence a client gets (S4.5, S4.6); db/functions/dispatches.sql locks and dispatches it.

-- The executors that a client pulls from: itself and its groups.
create or replace function executors_of(p_person text) returns setof text language sql stable rows 5 as $$
  select 'uid_' || p_person union all select 'gid_' || group_id from member where person = p_person
$$;

-- How far back a client looks (S4.6): to the start of what it completed last. What began before that it has passed by,
-- as far as it saw it when it was given that. No row: it has completed nothing, and the look-back of each task counts.
create or replace function look_back(p_person text) returns table (since_rank bigint, seen xid8)
language sql stable rows 1 as $$
  select i.rank, f.seen
    from (select item_id from lease where kind = 'task' and slot = p_person and why = 'settled'
           order by ended_at desc limit 1) d
    join item i on i.kind = 'task' and i.id = d.item_id
    -- of a blocking one, when it was given the first time: what has come since then had to wait for it
   cross join lateral (select seen from lease where kind = 'task' and item_id = d.item_id and slot = p_person
                        order by granted_at limit 1) f
   -- transactions are counted anew in a database that was restored from a dump: then nothing is passed by
   where f.seen <= pg_snapshot_xmin(pg_current_snapshot())
$$;

-- The occurrence that a client gets next: first a blocking one that it has taken, until that is used up (S4.4). Then
-- the earliest, except what the client has passed by or, where each client gets a task once, has had already. A
-- dispatch returned unanswered goes to others of the group, or to the same client where there are none. Sorts are off,
-- so that the first of a group is read at the head of an index: statistics of many small groups make a sort look as
-- cheap.
create or replace function first_task(p_person text, p_exclude text[], p_now timestamptz) returns text
language plpgsql stable set plan_cache_mode = force_generic_plan
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_sort = off as $$
declare
  v_id text;
  v_rank bigint;
  v_seen xid8;
begin
  -- from what the client has taken to its items: by such statistics the items of its groups look as few
  select i.id into v_id from (select item_id from taken_task where person = p_person offset 0) g
   cross join lateral (
     select id, rank, seq from item
      where kind = 'task' and id = g.item_id and state = 'ready' and capacity > 0 and deadline_at > p_now
        and queue in (select executors_of(p_person)) and not is_excluded(id, p_exclude) offset 0) i
    join task t on t.id = task_of(i.id) and t.dispatch = 'blocking'
   order by i.rank, i.seq limit 1;
  if found then return v_id; end if;

  select b.since_rank, b.seen into v_rank, v_seen from look_back(p_person) b;
  v_rank := coalesce(v_rank, -9223372036854775808);
  select c.id into v_id from executors_of(p_person) as e (queue)
   cross join lateral (
     (select i.id, i.rank, i.seq from item i
       where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.capacity > 0 and i.rank >= v_rank
         and i.deadline_at > p_now and not is_excluded(i.id, p_exclude) and not had_task(i, p_person)
       order by i.rank, i.seq limit 1)
     union all
     -- what has come since; read by that, and not by rank, past all that the client has passed by
     (select (s.i).id, (s.i).rank, (s.i).seq from (
        select i from item i
         where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.capacity > 0
           and i.stocked_by >= v_seen offset 0) s
       where (s.i).rank < v_rank and (s.i).deadline_at > p_now
         and not is_excluded((s.i).id, p_exclude) and not had_task(s.i, p_person)
       order by 2, 3 limit 1)) c
   order by c.rank, c.seq limit 1;
  return v_id;
end $$;

create or replace function had_task(i item, p_person text) returns boolean language plpgsql stable as $$
begin
  return exists (select from lease l where l.kind = 'task' and l.slot = p_person and l.item_id = i.id
                   and (l.why = 'settled' or i.queue like 'gid%'))
     and (select t.dispatch = 'each-once' from task t where t.id = task_of(i.id));
end $$;

-- The queues to wait at. With p_explain also when the next occurrence is due, and why there is none now, in counts up
-- to 1,000.
create or replace function task_prospect(p_person text, p_exclude text[], p_explain boolean, p_now timestamptz)
returns json language plpgsql stable set enable_seqscan = off as $$
declare
  v_queues text[] := array(select executors_of(p_person));
  v_next timestamptz;
  v_reasons json;
  v_rank bigint;
  v_seen xid8;
begin
  if not p_explain then return json_build_object('queues', v_queues); end if;
  select min(i.available_at) into v_next
    from unnest(v_queues) as e (queue), unnest(array['task', 'rotation']) as k (kind)
   cross join lateral (
     select o.available_at from item o
      where o.queue = e.queue and o.kind = k.kind and o.state = 'delayed' and not is_excluded(o.id, p_exclude)
      order by o.available_at limit 1) i;
  select b.since_rank, b.seen into v_rank, v_seen from look_back(p_person) b;
  select json_build_object(
           'excluded', count(*) filter (where s.excluded), 'done', count(*) filter (where not s.excluded and s.had),
           'taken', count(*) filter (where not s.excluded and not s.had and s.capacity = 0),
           'passed', count(*) filter (where not s.excluded and not s.had and s.capacity > 0 and s.passed), 'notYet', (
             select count(*) from (select from unnest(v_queues) as e (queue) join item o on o.queue = e.queue
                                    where o.kind in ('task', 'rotation') and o.state = 'delayed' limit 1000) d))
    into v_reasons
    from (select i.capacity, is_excluded(i.id, p_exclude) as excluded, had_task(i, p_person) as had,
                 i.rank < v_rank and (i.stocked_by is null or i.stocked_by < v_seen) as passed
            from unnest(v_queues) as e (queue)
            join item i on i.queue = e.queue and i.kind = 'task' and i.state = 'ready'
           where i.deadline_at > p_now limit 1000) s;
  return json_build_object('queues', v_queues, 'nextAt', iso_time(v_next), 'reasons', v_reasons);
end $$;
