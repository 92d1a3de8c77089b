-- What clients do (S4.3–S4.7): pull, and complete. A call serves several clients at once: those that called while the
-- statement before was running.

-- Plans are fixed for a handful of rows, because the planner's estimates are wrong for a table that is not analyzed
-- yet. A plan made while a table was empty is kept, so each row is looked up by its key on its own (lateral, offset 0);
-- another join would read a whole index.

-- Gives each client its unfinished dispatch again, or the earliest due occurrence that it may have (S4.5, S4.6).
-- Clients are locked first, and everything is read after that. They choose together; a client whose choice has no stock
-- left chooses again. Waiting for an occurrence could deadlock, because others may be locked by then, so one that
-- another call has locked gives `busy`; skipping it would break the order.
-- p_sent   [{person, uid, exclude, token, explain}], no person twice
-- outcome  redo, dispatched, busy, none; `given` is what was given with a dispatch, or why there is nothing. Rows
--          without a person, `advanced`, are occurrences that time changed before the calls were answered
create or replace function next_tasks(p_sent json)
returns table (person text, outcome text, log_id text, given json, item item) language plpgsql
set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  v_left task_pull[];
  v_ids text[];
  v_n integer;
  v_seen pg_snapshot;
  v_now timestamptz;
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('task', '', s.person) as key from json_to_recordset(p_sent) as s (person text)
     order by 1) s;
  v_ids := array(select distinct e.queue from json_to_recordset(p_sent) as s (person text), executors_of(s.person) e);
  return query select null::text, 'advanced', null::text, null::json, a
                 from unnest(array['rotation', 'task']) as k (kind), advance_due(k.kind, v_ids) a
                where is_due(k.kind, v_ids);
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
    v_seen := pg_current_snapshot();
    v_left := array(select (p.person, p.uid, p.token, p.excluded, p.explain,
                            first_task(p.person, p.excluded, v_now))::task_pull
                      from unnest(v_left) p);
    return query select p.person, 'none', null::text, task_prospect(p.person, p.excluded, p.explain, v_now), null::item
      from unnest(v_left) p where p.pick is null;
    v_ids := array(select p.pick from unnest(v_left) p);
    v_ids := array(
      select i.id from (select k collate "C" as k from unnest(v_ids) k group by 1 order by 1 offset 0) s
       cross join lateral (
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

-- Dispatches to each client the occurrence it chose, while stock lasts; the occurrences are locked. The dispatch keeps
-- the parameters that the client was given, because the task may change before it is completed.
create or replace function dispatch_tasks(p_pulls task_pull[], p_seen pg_snapshot)
returns table (person text, log_id text, given json, item item) language plpgsql as $$
#variable_conflict use_column
declare
  v_ids text[] := array(select pick from unnest(p_pulls));
  v_now timestamptz := clock_timestamp();
begin
  return query
  with pull as materialized (
    select p.person, p.uid, p.token, p.excluded, p.nth, count(*) over (partition by i.id)::integer as n, i.id, i.queue,
           i.body, i.seq as number, i.event_seq, v_now + make_interval(secs => t.answer_seconds) as until, t.dispatch,
           json_build_object('logId', p.token, 'person', p.person, 'uid', p.uid, 'params', i.body) as data
      from (select *, row_number() over (partition by pick order by no) as nth
              from unnest(p_pulls) with ordinality as s (person, uid, token, excluded, explain, pick, no)) p
     cross join lateral (select * from item where kind = 'task' and id = p.pick offset 0) i
      join task t on t.id = task_of(p.pick)
     where p.nth <= i.capacity
  ), leased as (
    insert into lease (token, kind, item_id, queue, holder, slot, granted_at, expires_at, given, seen, excluded)
    select token, 'task', id, queue, uid, person, v_now, until, body, p_seen, nullif(excluded, '{}') from pull
  ), taken as (
    insert into taken_task select person, id from pull where dispatch = 'blocking' on conflict do nothing
  ), lines as (
    -- of several dispatches of one occurrence all but the last, which is written with its row
    insert into event (kind, item_id, no, seq, type, actor, at, data)
    select 'task', id, number, event_seq + nth, 'dispatched', uid, v_now, data from pull where nth < n order by nth
  ), handed as (
    update item i
       set capacity = i.capacity - p.n, attempts = i.attempts + p.n, wake_at = least(i.wake_at, p.until),
           event_seq = i.event_seq + p.n, last_event = 'dispatched', last_actor = p.uid, last_data = p.data,
           updated_at = v_now
      from pull p where p.nth = p.n and i.kind = 'task' and i.id = any (v_ids) and i.id = p.id
    returning i)
  select p.person, p.token, p.body, at_line(h.i, p.event_seq + p.nth, p.uid)
    from pull p join handed h on (h.i).id = p.id;
end $$;

-- Completes dispatches by their log ids (S4.5, S4.7). The occurrences are locked first; the last completion ends one.
-- p_sent   [{person, token, result, hash}], no token twice
-- outcome  completed, repeated (the same again), settled (the last one, completed with another result), stale;
--          `current` is the client's unfinished one. Rows without a token, `advanced`, as above
create or replace function complete_tasks(p_sent json)
returns table (token text, outcome text, completed_at timestamptz, current text, item item) language plpgsql
set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  v_ids text[];
  v_tokens text[];
  v_lines item_line[];
  v_now timestamptz;
begin
  v_ids := array(select o.item_id from json_to_recordset(p_sent) as s (person text, token text)
                  cross join lateral (select * from lease where token = s.token offset 0) o
                  where o.kind = 'task' and o.slot = s.person);
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
    update lease o
       set ended_at = greatest(v_now, o.granted_at), why = 'settled', ended_by = o.holder,
           result_hash = decode(s.hash, 'hex')
      from json_to_recordset(p_sent) as s (person text, token text, result json, hash text)
     where o.token = any (v_tokens) and o.token = s.token and o.kind || '' = 'task' and o.slot = s.person
       and o.why is null
    returning o.token, o.item_id, o.holder, o.slot, o.given, s.result)
  select array_agg(c.token),
         array_agg((c.item_id, c.holder,
                    json_build_object('logId', c.token, 'person', c.slot, 'uid', c.holder, 'params', c.given,
                                      'result', c.result), null)::item_line)
    into v_tokens, v_lines from completed c;
  if v_tokens is not null then
    perform complete_lines(v_lines, v_now);
    perform look_back_to(v_tokens);
    return query
      select c.token, 'completed', c.ended_at, null::text, at_line(i.i, (i.i).event_seq - c.n + c.nth, c.holder) from (
          select o.token, o.item_id, o.ended_at, o.holder, count(*) over (partition by o.item_id) as n,
                 row_number() over (partition by o.item_id order by s.no) as nth
            from unnest(v_tokens) with ordinality as s (token, no) join lease o on o.token = s.token) c
       cross join lateral (select i from item i where i.kind = 'task' and i.id = c.item_id offset 0) i;
  end if;
  if cardinality(v_tokens) = json_array_length(p_sent) then return; end if;
  return query
    select s.token, l.outcome, o.ended_at, case when l.outcome = 'stale' then (
             select u.token from lease u where u.kind = 'task' and u.slot = s.person and u.ended_at is null) end,
           null::item
      from json_to_recordset(p_sent) as s (person text, token text, hash text)
      left join lateral (
        select x.* from (select * from lease where token = s.token offset 0) x
         where x.kind = 'task' and x.slot = s.person) o on true
     cross join lateral (
        select case when o.why is distinct from 'settled' then 'stale'
                    when o.result_hash = decode(s.hash, 'hex') then 'repeated'
                    when exists (select from given_after(s.person, o.granted_at)) then 'stale'
                    else 'settled' end as outcome) l
     where v_tokens is null or not s.token = any (v_tokens);
end $$;

-- The log id that a client was given first after an instant.
create or replace function given_after(p_person text, p_at timestamptz) returns setof text language sql stable as $$
  select data ->> 'logId' from event
   where kind = 'task' and type = 'dispatched' and data ->> 'person' = p_person and at > p_at order by at limit 1
$$;

-- Notes what clients have completed last, for their look-back (S4.6).
create or replace function look_back_to(p_tokens text[]) returns void language sql as $$
  insert into look_back as b
  select l.slot, l.granted_at, i.rank, f.seen, i.rank, f.seen, coalesce(f.excluded, '{}') from lease l
   cross join lateral (select rank from item where kind = 'task' and id = l.item_id offset 0) i
   -- of a blocking one, when it was given the first time: what has come since then had to wait for it
   cross join lateral (select seen, excluded from lease where kind = 'task' and item_id = l.item_id and slot = l.slot
                        order by granted_at limit 1) f
   where l.token = any (p_tokens)
      on conflict (person) do update
     set since_rank = excluded.since_rank, seen = excluded.seen, excluded = excluded.excluded
$$;

-- Writes what completions change in their occurrences, whose dispatches have been ended.
create or replace function complete_lines(p_lines item_line[], p_now timestamptz) returns void language plpgsql as $$
declare
  v_last item_line[] := array(
    select l from unnest(p_lines) l
     cross join lateral (select capacity from item where kind = 'task' and id = l.id offset 0) i
     where i.capacity = 0);
  v_others item_line[] := p_lines;
begin
  if cardinality(v_last) > 0 then
    perform recompute_occurrences(v_last, 'completed', p_now);
    v_others := array(select l from unnest(p_lines) l where not l.id in (select id from unnest(v_last)));
  end if;
  if cardinality(v_others) = 0 then return; end if;
  perform earlier_lines('task', v_others, 'completed', p_now);
  update item i
     set event_seq = i.event_seq + l.n, last_event = 'completed', last_actor = l.actor, last_data = l.data,
         updated_at = p_now
    from last_lines(v_others) l
   where i.kind = 'task' and i.id = any (array(select id from unnest(v_others))) and i.id = l.id;
end $$;

-- Gives a client's last dispatch back to stock: its own command by log id, or an administrator's (p_token is null).
-- outcome  released, repeated, stale; `current` is the client's unfinished one. A row `advanced`, as above
create or replace function release_task(p_person text, p_token text, p_comment text, p_actor text)
returns table (outcome text, log_id text, released_at timestamptz, current text, item item) language plpgsql as $$
#variable_conflict use_column
declare
  v_why text := case when p_token is null then 'revoked' else 'released' end;
  v_now timestamptz;
  o lease;
  e event;
begin
  perform pg_advisory_xact_lock(person_key('task', '', p_person));
  select * into o from lease where kind = 'task' and slot = p_person and ended_at is null;
  if o.token = coalesce(p_token, o.token) then
    perform 1 from item where kind = 'task' and id = o.item_id for update;
    v_now := clock_timestamp();
    -- it may have been completed meanwhile
    select * into o from lease where token = o.token;
    if o.ended_at is null and o.expires_at <= v_now then
      return query select 'advanced', null::text, null::timestamptz, null::text, a
                     from advance_tasks(array[o.item_id]) a;
    elsif o.ended_at is null then
      delete from taken_task where person = p_person and item_id = o.item_id;
      perform return_dispatches(array[o.item_id], v_why, false, p_actor, v_now, o.token, p_comment);
      return query select 'released', o.token, v_now, null::text, i
                     from item i where i.kind = 'task' and i.id = o.item_id;
      return;
    end if;
  end if;
  select * into e from event where kind = 'task' and type in ('dispatched', 'completed', 'returned')
     and data ->> 'person' = p_person order by at desc, item_id desc, seq desc limit 1;
  return query
    select case when e.type = 'returned' and e.data ->> 'reason' = v_why
                     and e.data ->> 'logId' = coalesce(p_token, e.data ->> 'logId') then 'repeated' else 'stale' end,
           e.data ->> 'logId', e.at,
           (select token from lease where kind = 'task' and slot = p_person and ended_at is null), null::item;
end $$;
