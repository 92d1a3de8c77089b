-- What clients do (S4.3–S4.7): pull, and complete. A call serves several clients at once: those that called while the
-- statement before was running.

-- Plans are fixed for a handful of rows, because the planner's estimates are wrong for a table that is not analyzed yet.

-- Gives each client its unfinished dispatch again, or the earliest due occurrence that it may have (S4.5, S4.6). Clients
-- are locked first, and everything is read after that. Waiting for an occurrence could deadlock, because others may be
-- locked by then: one that another call has locked gives `busy`; to go on to the next would break the order.
-- p_sent   [{person, uid, exclude, token, explain}], no person twice
-- outcome  redo, dispatched, busy, none; `given` is what was given with a dispatch, or why there is nothing. Rows without a
--          person, `advanced`, are occurrences with something due, which was done before the calls were answered
create or replace function next_tasks(p_sent json)
returns table (person text, outcome text, log_id text, given json, item item) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  x record;
  l lease;
  v_item item;
  v_id text;
  v_seen xid8;
  v_now timestamptz;
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('task', '', s.person) as key from json_to_recordset(p_sent) as s (person text) order by 1) s;
  v_now := clock_timestamp();
  -- dispatches whose time to answer is over, before a clock has ended them
  return query select null::text, 'advanced', null::text, null::json, a from advance_tasks(array(
    select o.item_id from json_to_recordset(p_sent) as s (person text)
      join lease o on o.kind = 'task' and o.slot = s.person and o.ended_at is null and o.expires_at <= v_now)) a;

  for x in select s.*, array(select json_array_elements_text(s.exclude)) as excluded
             from json_to_recordset(p_sent) as s (person text, uid text, exclude json, token text, explain boolean)
  loop
    select * into l from lease o where o.kind = 'task' and o.slot = x.person and o.ended_at is null;
    if found then
      select * into v_item from item i where i.kind = 'task' and i.id = l.item_id;
      return query select x.person, 'redo', l.token, l.given, v_item;
      continue;
    end if;
    -- before the choice, so that it saw all of what is older
    v_seen := pg_snapshot_xmin(pg_current_snapshot());
    v_id := first_task(x.person, x.excluded, v_now);
    if v_id is null then
      return query select x.person, 'none', null::text, task_prospect(x.person, x.excluded, x.explain, v_now), null::item;
      continue;
    end if;
    select * into v_item from item i
     where i.kind = 'task' and i.id = v_id and i.state = 'ready' and i.room > 0 for update skip locked;
    if not found then
      return query select x.person, 'busy', null::text, null::json, null::item;
    else
      return query select * from dispatch_task(v_item, x.person, x.uid, x.token, v_seen);
    end if;
  end loop;
end $$;

-- Dispatches one of an occurrence's stock to one client. What it was given is kept with the dispatch, because the task may be
-- changed before it is completed.
create or replace function dispatch_task(i item, p_person text, p_uid text, p_token text, p_seen xid8)
returns table (person text, outcome text, log_id text, given json, item item) language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_until timestamptz;
  v_blocking boolean;
begin
  select v_now + make_interval(secs => t.answer_seconds), t.dispatch = 'blocking' into v_until, v_blocking
    from task t where t.id = task_of(i.id);
  insert into lease (token, kind, item_id, queue, holder, slot, granted_at, expires_at, given, seen)
  values (p_token, 'task', i.id, i.queue, p_uid, p_person, v_now, v_until, i.body, p_seen);
  if v_blocking then insert into taken_task values (p_person, i.id) on conflict do nothing; end if;
  return query with handed as (
    update item o
       set room = o.room - 1, attempts = o.attempts + 1, wake_at = least(o.wake_at, v_until),
           version = nextval('item_version'), event_seq = o.event_seq + 1, last_event = 'dispatched', last_actor = p_uid,
           last_data = json_build_object('logId', p_token, 'person', p_person, 'uid', p_uid, 'params', o.body), updated_at = v_now
     where o.kind = 'task' and o.id = i.id returning o.*)
  select p_person, 'dispatched', p_token, h.body, h::item from handed h;
end $$;

-- The executors that a client pulls from: itself and its groups.
create or replace function executors_of(p_person text) returns setof text language sql stable rows 5 as $$
  select 'uid_' || p_person union all select 'gid_' || group_id from member where person = p_person
$$;

-- How far back a client looks (S4.6): to the start of what it completed last. What began before that it has passed by,
-- as far as it saw it when it was given that. No row: it has completed nothing, and the look-back of each task counts.
create or replace function look_back(p_person text) returns table (since_rank bigint, seen xid8) language sql stable rows 1 as $$
  select i.rank, f.seen
    from (select item_id from lease where kind = 'task' and slot = p_person and why = 'settled' order by ended_at desc limit 1) d
    join item i on i.kind = 'task' and i.id = d.item_id
    -- of a blocking one, when it was given the first time: what has come since then had to wait for it
   cross join lateral (select seen from lease where kind = 'task' and item_id = d.item_id and slot = p_person
                        order by granted_at limit 1) f
   -- transactions are counted anew in a database that was restored from a dump: then nothing is passed by
   where f.seen <= pg_snapshot_xmin(pg_current_snapshot())
$$;

-- The occurrence that a client gets next. First what it is in the middle of: a blocking one that it has taken, until that is
-- used up (S4.4). Then by start: not one that it has had already, where each gets a task once, and not what it has passed
-- by. What was returned unanswered goes to others of the group; where there are no others, to the same client.
create or replace function first_task(p_person text, p_exclude text[], p_now timestamptz) returns text language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
declare
  v_id text;
  v_rank bigint;
  v_seen xid8;
begin
  select i.id into v_id from taken_task g
    join item i on i.kind = 'task' and i.id = g.item_id and i.state = 'ready' and i.room > 0 and i.deadline_at > p_now
    join task t on t.id = task_of(i.id) and t.dispatch = 'blocking'
   where g.person = p_person and i.queue in (select executors_of(p_person)) and not is_excluded(i.id, p_exclude)
   order by i.rank, i.seq limit 1;
  if found then return v_id; end if;

  select b.since_rank, b.seen into v_rank, v_seen from look_back(p_person) b;
  v_rank := coalesce(v_rank, -9223372036854775808);
  select c.id into v_id from executors_of(p_person) as e (queue)
   cross join lateral (
     (select i.id, i.rank, i.seq from item i
       where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.room > 0 and i.rank >= v_rank
         and i.deadline_at > p_now and not is_excluded(i.id, p_exclude) and not had_task(i, p_person)
       order by i.rank, i.seq limit 1)
     union all
     -- what has come since; read by that, and not by rank, past all that the client has passed by
     (select (s.i).id, (s.i).rank, (s.i).seq from (
        select i from item i
         where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.room > 0 and i.stocked_by >= v_seen offset 0) s
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

-- At which queues to wait and, if asked for, when the next one is due and why there is nothing now, each counted up to 1,000.
create or replace function task_prospect(p_person text, p_exclude text[], p_explain boolean, p_now timestamptz) returns json
language plpgsql stable set enable_seqscan = off as $$
declare
  v_queues text[] := array(select executors_of(p_person));
  v_next timestamptz;
  v_reasons json;
  v_rank bigint;
  v_seen xid8;
begin
  if not p_explain then return json_build_object('queues', v_queues); end if;
  select min(i.available_at) into v_next from unnest(v_queues) as e (queue), unnest(array['task', 'rotation']) as k (kind)
   cross join lateral (
     select o.available_at from item o
      where o.queue = e.queue and o.kind = k.kind and o.state = 'delayed'
        and not is_excluded(o.id, p_exclude)
      order by o.available_at limit 1) i;
  select b.since_rank, b.seen into v_rank, v_seen from look_back(p_person) b;
  select json_build_object(
           'excluded', count(*) filter (where s.excluded), 'done', count(*) filter (where not s.excluded and s.had),
           'taken', count(*) filter (where not s.excluded and not s.had and s.room = 0),
           'passed', count(*) filter (where not s.excluded and not s.had and s.room > 0 and s.passed), 'notYet', (
             select count(*) from (select from unnest(v_queues) as e (queue) join item o on o.queue = e.queue
                                    where o.kind in ('task', 'rotation') and o.state = 'delayed' limit 1000) d)) into v_reasons
    from (select i.room, is_excluded(i.id, p_exclude) as excluded, had_task(i, p_person) as had,
                 i.rank < v_rank and (i.stocked_by is null or i.stocked_by < v_seen) as passed
            from unnest(v_queues) as e (queue) join item i on i.queue = e.queue and i.kind = 'task' and i.state = 'ready'
           where i.deadline_at > p_now limit 1000) s;
  return json_build_object('queues', v_queues, 'nextAt', iso_time(v_next), 'reasons', v_reasons);
end $$;

-- Completes dispatches by their log ids (S4.5, S4.7). The occurrence is locked first; with the last of its stock it ends.
-- p_sent   [{person, token, result, hash}], no token twice
-- outcome  completed, repeated (the same again), settled (completed with another result), stale; `current` is the
--          client's unfinished one. Rows without a token, `advanced`, as above
create or replace function complete_tasks(p_sent json)
returns table (token text, outcome text, completed_at timestamptz, current text, item item) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  x record;
  l lease;
  v_item item;
  v_now timestamptz;
begin
  perform 1 from item i where i.kind = 'task' and i.id in (
    select o.item_id from json_to_recordset(p_sent) as s (person text, token text)
      join lease o on o.token = s.token and o.kind = 'task' and o.slot = s.person) order by i.id for update;
  for x in select * from json_to_recordset(p_sent) as s (person text, token text, result json, hash text) loop
    v_now := clock_timestamp();
    select * into l from lease o where o.token = x.token and o.kind = 'task' and o.slot = x.person;
    if found and l.ended_at is null and l.expires_at <= v_now then
      -- its time to answer is over, and no clock has ended it yet
      return query select null::text, 'advanced', null::timestamptz, null::text, a from advance_tasks(array[l.item_id]) a;
      select * into l from lease o where o.token = x.token;
    end if;
    if l.token is not null and l.ended_at is null then
      v_item := complete_task(l, x.result, x.hash, v_now);
      return query select x.token, 'completed', greatest(v_now, l.granted_at), null::text, v_item;
    elsif l.why = 'settled' and not exists (
      select from event e where e.kind = 'task' and e.type = 'dispatched' and e.data ->> 'person' = x.person and e.at > l.granted_at) then
      return query select x.token, case when l.result_hash = decode(x.hash, 'hex') then 'repeated' else 'settled' end,
                          l.ended_at, null::text, null::item;
    else
      return query select x.token, 'stale', l.ended_at,
        (select o.token from lease o where o.kind = 'task' and o.slot = x.person and o.ended_at is null), null::item;
    end if;
  end loop;
end $$;

create or replace function complete_task(l lease, p_result json, p_hash text, p_now timestamptz) returns item language plpgsql as $$
declare
  v_item item;
  v_data json := json_build_object('logId', l.token, 'person', l.slot, 'uid', l.holder, 'params', l.given, 'result', p_result);
begin
  update lease set ended_at = greatest(p_now, granted_at), why = 'settled', ended_by = l.holder, result_hash = decode(p_hash, 'hex')
   where token = l.token;
  select * into v_item from item where kind = 'task' and id = l.item_id;
  if v_item.room > 0 then
    update item set version = nextval('item_version'), event_seq = event_seq + 1, last_event = 'completed', last_actor = l.holder,
           last_data = v_data, updated_at = p_now
     where kind = 'task' and id = l.item_id returning * into v_item;
  else
    perform recompute_occurrence(l.item_id, 'completed', l.holder, v_data, p_now);
    select * into v_item from item where kind = 'task' and id = l.item_id;
  end if;
  return v_item;
end $$;
