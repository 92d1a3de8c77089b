-- What clients do (S4.3–S4.7): pull, and complete. A call serves several clients at once: those that called while the
-- statement before was running.

-- Plans are fixed for a handful of rows, because the planner's estimates are wrong for a table that is not analyzed yet. A plan
-- that was made while a table was empty is kept, so each row is looked up by its key on its own (lateral, offset 0): joined in
-- another way, an index would be read as a whole.

-- Gives each client its unfinished dispatch again, or the earliest due occurrence that it may have (S4.5, S4.6). Clients
-- are locked first, and everything is read after that. They choose together, and whoever finds the stock used up by the others
-- chooses again. Waiting for an occurrence could deadlock, because others may be locked by then: one that another call has
-- locked gives `busy`; to go on to the next would break the order.
-- p_sent   [{person, uid, exclude, token, explain}], no person twice
-- outcome  redo, dispatched, busy, none; `given` is what was given with a dispatch, or why there is nothing. Rows without a
--          person, `advanced`, are occurrences with something due, which was done before the calls were answered
create or replace function next_tasks(p_sent json)
returns table (person text, outcome text, log_id text, given json, item item) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  v_left task_pull[];
  v_ids text[];
  v_n integer;
  v_seen xid8;
  v_now timestamptz;
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('task', '', s.person) as key from json_to_recordset(p_sent) as s (person text) order by 1) s;
  v_now := clock_timestamp();
  select array_agg(o.item_id) filter (where o.expires_at <= v_now), count(*) into v_ids, v_n
    from json_to_recordset(p_sent) as s (person text) cross join lateral (
      select * from lease where kind = 'task' and slot = s.person and ended_at is null offset 0) o;
  -- dispatches whose time to answer is over, before a clock has ended them
  if v_ids is not null then
    return query select null::text, 'advanced', null::text, null::json, a from advance_tasks(v_ids) a;
  end if;
  if v_n > 0 then
    return query select s.person, 'redo', o.token, o.given, i.i from json_to_recordset(p_sent) as s (person text)
     cross join lateral (select * from lease where kind = 'task' and slot = s.person and ended_at is null offset 0) o
     cross join lateral (select i from item i where i.kind = 'task' and i.id = o.item_id offset 0) i;
  end if;
  v_left := array(
    select (s.person, s.uid, s.token, array(select json_array_elements_text(s.exclude)), s.explain, null)::task_pull
      from json_to_recordset(p_sent) as s (person text, uid text, exclude json, token text, explain boolean)
     where not exists (select from lease where kind = 'task' and slot = s.person and ended_at is null offset 0));

  while v_left <> '{}' loop
    -- before the choice, so that it saw all of what is older
    v_seen := pg_snapshot_xmin(pg_current_snapshot());
    v_left := array(select (p.person, p.uid, p.token, p.excluded, p.explain, first_task(p.person, p.excluded, v_now))::task_pull
                      from unnest(v_left) p);
    return query select p.person, 'none', null::text, task_prospect(p.person, p.excluded, p.explain, v_now), null::item
      from unnest(v_left) p where p.pick is null;
    v_ids := array(select p.pick from unnest(v_left) p);
    v_ids := array(select i.id from (select k collate "C" as k from unnest(v_ids) k group by 1 order by 1 offset 0) s cross join lateral (
      select id, state, capacity from item where kind = 'task' and id = s.k offset 0 for update skip locked) i
       where i.state = 'ready' and i.capacity > 0);
    return query select p.person, 'busy', null::text, null::json, null::item
      from unnest(v_left) p where p.pick is not null and p.pick <> all (v_ids);
    v_left := array(select p from unnest(v_left) p where p.pick = any (v_ids));
    exit when v_left = '{}';
    return query select d.person, 'dispatched', d.log_id, d.given, d.item from dispatch_tasks(v_left, v_seen) d;
    get diagnostics v_n = row_count;
    exit when v_n = cardinality(v_left);
    v_left := array(select p from unnest(v_left) p where not exists (
      select from lease where kind = 'task' and slot = p.person and ended_at is null offset 0));
  end loop;
end $$;

-- Dispatches to each client what they have chosen, while its stock lasts; the occurrences are locked. What a client was given
-- is kept with the dispatch, because the task may be changed before it is completed.
create or replace function dispatch_tasks(p_pulls task_pull[], p_seen xid8)
returns table (person text, log_id text, given json, item item) language plpgsql as $$
#variable_conflict use_column
declare
  v_ids text[] := array(select pick from unnest(p_pulls));
  v_now timestamptz := clock_timestamp();
begin
  return query
  with pull as materialized (
    select p.person, p.uid, p.token, p.nth, count(*) over (partition by i.id)::integer as n, i.id, i.queue, i.body, i.event_seq,
           v_now + make_interval(secs => t.answer_seconds) as until, t.dispatch,
           json_build_object('logId', p.token, 'person', p.person, 'uid', p.uid, 'params', i.body) as data
      from (select *, row_number() over (partition by pick order by no) as nth
              from unnest(p_pulls) with ordinality as s (person, uid, token, excluded, explain, pick, no)) p
     cross join lateral (select * from item where kind = 'task' and id = p.pick offset 0) i
      join task t on t.id = task_of(p.pick)
     where p.nth <= i.capacity
  ), leased as (
    insert into lease (token, kind, item_id, queue, holder, slot, granted_at, expires_at, given, seen)
    select token, 'task', id, queue, uid, person, v_now, until, body, p_seen from pull
  ), taken as (
    insert into taken_task select person, id from pull where dispatch = 'blocking' on conflict do nothing
  ), lines as (
    -- of several dispatches of one occurrence all but the last, which is written with its row
    insert into event (kind, item_id, seq, type, actor, at, data)
    select 'task', id, event_seq + nth, 'dispatched', uid, v_now, data from pull where nth < n order by nth
  ), handed as (
    update item i
       set capacity = i.capacity - p.n, attempts = i.attempts + p.n, wake_at = least(i.wake_at, p.until), version = nextval('item_version'),
           event_seq = i.event_seq + p.n, last_event = 'dispatched', last_actor = p.uid, last_data = p.data, updated_at = v_now
      from pull p where p.nth = p.n and i.kind = 'task' and i.id = any (v_ids) and i.id = p.id
    returning i)
  select p.person, p.token, p.body, at_line(h.i, p.event_seq + p.nth, p.uid) from pull p join handed h on (h.i).id = p.id;
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
-- by. What was returned unanswered goes to others of the group; where there are no others, to the same client. Without sorts the
-- first of a group is the head of an index: by statistics of many small groups, reading and sorting all of a group looks as cheap.
create or replace function first_task(p_person text, p_exclude text[], p_now timestamptz) returns text language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_sort = off as $$
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
         where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.capacity > 0 and i.stocked_by >= v_seen offset 0) s
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
           'taken', count(*) filter (where not s.excluded and not s.had and s.capacity = 0),
           'passed', count(*) filter (where not s.excluded and not s.had and s.capacity > 0 and s.passed), 'notYet', (
             select count(*) from (select from unnest(v_queues) as e (queue) join item o on o.queue = e.queue
                                    where o.kind in ('task', 'rotation') and o.state = 'delayed' limit 1000) d)) into v_reasons
    from (select i.capacity, is_excluded(i.id, p_exclude) as excluded, had_task(i, p_person) as had,
                 i.rank < v_rank and (i.stocked_by is null or i.stocked_by < v_seen) as passed
            from unnest(v_queues) as e (queue) join item i on i.queue = e.queue and i.kind = 'task' and i.state = 'ready'
           where i.deadline_at > p_now limit 1000) s;
  return json_build_object('queues', v_queues, 'nextAt', iso_time(v_next), 'reasons', v_reasons);
end $$;

-- Completes dispatches by their log ids (S4.5, S4.7). The occurrences are locked first; with the last of its stock one ends.
-- p_sent   [{person, token, result, hash}], no token twice
-- outcome  completed, repeated (the same again), settled (completed with another result), stale; `current` is the
--          client's unfinished one. Rows without a token, `advanced`, as above
create or replace function complete_tasks(p_sent json)
returns table (token text, outcome text, completed_at timestamptz, current text, item item) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  v_ids text[];
  v_tokens text[];
  v_lines item_line[];
  v_now timestamptz;
begin
  v_ids := array(select o.item_id from json_to_recordset(p_sent) as s (person text, token text)
                  cross join lateral (select * from lease where token = s.token offset 0) o where o.kind = 'task' and o.slot = s.person);
  perform i.id from (select k collate "C" as k from unnest(v_ids) k group by 1 order by 1 offset 0) s
    cross join lateral (select id from item where kind = 'task' and id = s.k offset 0 for update) i;
  v_now := clock_timestamp();
  v_ids := array(select o.item_id from json_to_recordset(p_sent) as s (person text, token text)
                  cross join lateral (select * from lease where token = s.token offset 0) o
                  where o.kind = 'task' and o.slot = s.person and o.ended_at is null and o.expires_at <= v_now);
  if v_ids <> '{}' then
    -- their time to answer is over, and no clock has ended them yet
    return query select null::text, 'advanced', null::timestamptz, null::text, a from advance_tasks(v_ids) a;
  end if;
  v_tokens := array(select s.token from json_to_recordset(p_sent) as s (token text));
  with completed as (
    update lease o set ended_at = greatest(v_now, o.granted_at), why = 'settled', ended_by = o.holder, result_hash = decode(s.hash, 'hex')
      from json_to_recordset(p_sent) as s (person text, token text, result json, hash text)
     where o.token = any (v_tokens) and o.token = s.token and o.kind || '' = 'task' and o.slot = s.person and o.why is null
    returning o.token, o.item_id, o.holder, o.slot, o.given, s.result)
  select array_agg(c.token),
         array_agg((c.item_id, c.holder, json_build_object('logId', c.token, 'person', c.slot, 'uid', c.holder, 'params', c.given,
                                                           'result', c.result), null)::item_line)
    into v_tokens, v_lines from completed c;
  if v_tokens is not null then
    perform complete_lines(v_lines, v_now);
    return query
      select c.token, 'completed', c.ended_at, null::text, at_line(i.i, (i.i).event_seq - c.n + c.nth, c.holder) from (
          select o.token, o.item_id, o.ended_at, o.holder, count(*) over (partition by o.item_id) as n,
                 row_number() over (partition by o.item_id order by s.no) as nth
            from unnest(v_tokens) with ordinality as s (token, no) join lease o on o.token = s.token) c
       cross join lateral (select i from item i where i.kind = 'task' and i.id = c.item_id offset 0) i;
  end if;
  if cardinality(v_tokens) = json_array_length(p_sent) then return; end if;
  return query
    select s.token, case when not coalesce(l.mine, false) then 'stale' when o.result_hash = decode(s.hash, 'hex') then 'repeated'
                         else 'settled' end, o.ended_at,
           case when not coalesce(l.mine, false) then (
             select u.token from lease u where u.kind = 'task' and u.slot = s.person and u.ended_at is null) end, null::item
      from json_to_recordset(p_sent) as s (person text, token text, hash text)
      left join lateral (
        select x.* from (select * from lease where token = s.token offset 0) x where x.kind = 'task' and x.slot = s.person) o on true
      -- completed, and its client has been given nothing since
     cross join lateral (select o.why = 'settled' and not exists (
        select from event e where e.kind = 'task' and e.type = 'dispatched' and e.data ->> 'person' = s.person
                              and e.at > o.granted_at) as mine) l
     where v_tokens is null or not s.token = any (v_tokens);
end $$;

-- Writes what completions change in their occurrences, whose dispatches have been ended.
create or replace function complete_lines(p_lines item_line[], p_now timestamptz) returns void language plpgsql as $$
declare
  v_last item_line[] := array(
    select l from unnest(p_lines) l cross join lateral (select capacity from item where kind = 'task' and id = l.id offset 0) i where i.capacity = 0);
  v_others item_line[] := p_lines;
begin
  if cardinality(v_last) > 0 then
    perform recompute_occurrences(v_last, 'completed', p_now);
    v_others := array(select l from unnest(p_lines) l where not l.id in (select id from unnest(v_last)));
  end if;
  if cardinality(v_others) = 0 then return; end if;
  perform earlier_lines('task', v_others, 'completed', p_now);
  update item i
     set version = nextval('item_version'), event_seq = i.event_seq + l.n, last_event = 'completed', last_actor = l.actor,
         last_data = l.data, updated_at = p_now
    from last_lines(v_others) l
   where i.kind = 'task' and i.id = any (array(select id from unnest(v_others))) and i.id = l.id;
end $$;
