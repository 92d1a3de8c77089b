-- When tasks occur, and what makes their occurrences (S4.2, S4.6).

-- The instant that a wall clock shows as p_local. A time skipped by daylight saving runs one hour later; a repeated one
-- is the first, as in most date libraries. PostgreSQL alone takes the second.
create or replace function local_instant(p_local timestamp, p_zone text) returns timestamptz
  language sql stable strict parallel safe as $$
  select case when e.at at time zone p_zone = p_local then e.at else l.at end
    from (select p_local at time zone p_zone as at) l
   cross join lateral (select l.at - interval '1 day' as at) d
   -- computed with the offset of the day before
   cross join lateral (
     select (p_local - (d.at at time zone p_zone - d.at at time zone 'UTC')) at time zone 'UTC' as at) e
$$;

-- Whether the database knows a time zone by this name: its list may be older than the caller's.
create or replace function is_zone(p_zone text) returns boolean language plpgsql stable as $$
begin
  perform now() at time zone p_zone;
  return true;
exception when invalid_parameter_value then
  return false;
end $$;

-- The first p_limit times of a task after p_after, up to p_until and to its end. Every N minutes: counted from the
-- start. Daily: every so many days from the day of the start in the task's zone, and never before the start.
create or replace function task_times(t task, p_after timestamptz, p_until timestamptz, p_limit integer)
returns setof timestamptz language plpgsql stable as $$
declare
  v_until timestamptz := least(p_until, case when t.type = 'rotate' then t.end_time end);
  v_day date := (t.start_time at time zone t.timezone)::date;
  v_from bigint;
  v_to bigint;
begin
  if t.type = 'once' then
    return query select t.start_time where t.start_time > p_after and t.start_time <= v_until limit p_limit;
  elsif t.every_minutes is not null then
    v_from := greatest(0, floor(
      extract(epoch from greatest(p_after, t.start_time - interval '1 second') - t.start_time)
        / (60 * t.every_minutes)) + 1);
    v_to := floor(extract(epoch from v_until - t.start_time) / (60 * t.every_minutes));
    return query
      select s.at from generate_series(v_from, least(v_to, v_from + p_limit - 1)) as k
       cross join lateral (select t.start_time + (k * t.every_minutes) * interval '1 minute' as at) s;
  else
    -- one more on both sides of those computed: where a day begins depends on the zone
    v_from := greatest(0, ((greatest(p_after, t.start_time) at time zone t.timezone)::date - v_day) / t.every_days - 1);
    v_to := ((v_until at time zone t.timezone)::date - v_day) / t.every_days + 1;
    return query
      select s.at from generate_series(v_from, least(v_to, v_from + p_limit + 2)) as k
       cross join lateral (
         select local_instant((v_day + (k * t.every_days)::integer) + t.daily_time::time, t.timezone) as at) s
       where s.at > p_after and s.at >= t.start_time and s.at <= v_until
       order by s.at limit p_limit;
  end if;
end $$;

-- From when on adding a task, or changing it from `o`, makes its occurrences: of one that rotates not before its
-- look-back, and from then on all, unless its greatest look-back bounds them.
create or replace function plan_from(t task, o task, p_now timestamptz) returns timestamptz language sql immutable as $$
  select case when t.type = 'once' then '-infinity'
              else least(o.made_until, p_now - s.lookback,
                         -- planned again are those that were older than the bound
                         case when o.max_lookback_seconds < coalesce(t.max_lookback_seconds, 'infinity')
                              then o.created_at - s.lookback end) end
    -- what is due at the first moment of the look-back still counts
    from (select make_interval(secs => t.lookback_seconds) + interval '1 microsecond' as lookback) s
$$;

-- How many occurrences of a task adding or changing it would catch up. The number is computed without a list, so it is
-- fast for any size.
create or replace function times_due(t task, p_now timestamptz) returns bigint language plpgsql stable as $$
declare
  v_from timestamptz := greatest(t.start_time, t.made_until,
                                 p_now - make_interval(secs => t.max_lookback_seconds));
  v_until timestamptz := least(p_now, t.end_time);
begin
  if t.type = 'once' or t.catch_up = 'newest' or v_until < v_from then return 0; end if;
  if t.every_minutes is null then
    return ((v_until at time zone t.timezone)::date - (v_from at time zone t.timezone)::date) / t.every_days + 1;
  end if;
  return floor(extract(epoch from v_until - t.start_time) / (60 * t.every_minutes))
       - ceil(extract(epoch from v_from - t.start_time) / (60 * t.every_minutes)) + 1;
end $$;

-- Whether adding a task, or changing it from `o`, would catch up too much. A change that adds no occurrence to catch up
-- is always allowed.
create or replace function too_many_due(t task, o task, p_now timestamptz) returns boolean language sql stable as $$
  select times_due(t, p_now) > 10000
     and ((t.start_time, t.every_minutes, t.daily_time, t.every_days, t.timezone, t.catch_up) is distinct from
          (o.start_time, o.every_minutes, o.daily_time, o.every_days, o.timezone, o.catch_up)
          or times_due(t, p_now) > times_due(o, p_now))
$$;

-- How far apart two occurrences can be at most, daylight saving included.
create or replace function task_step(t task) returns interval language sql immutable as $$
  select coalesce(t.every_minutes * interval '1 minute', t.every_days * interval '1 day' + interval '1 day')
$$;

-- The times of a task that are due and not made yet, the oldest first, at most p_limit; with `newest` only the latest.
create or replace function due_times(t task, p_now timestamptz, p_limit integer) returns setof timestamptz
language plpgsql stable as $$
declare
  v_from timestamptz := greatest(t.made_until,
                                 p_now - make_interval(secs => t.max_lookback_seconds) - interval '1 microsecond');
begin
  if t.type = 'once' then
    return query select task_times(t, t.made_until, t.start_time, p_limit);
  elsif t.catch_up = 'all' then
    return query select task_times(t, v_from, p_now, p_limit);
  else
    return query select max(s)
                   from task_times(t, greatest(v_from, least(p_now, t.end_time) - 2 * task_step(t)), p_now, 10000) s
                 having max(s) is not null;
  end if;
end $$;

-- Makes the due occurrences of tasks; existing ones stay as they are. With `newest` the stock of earlier ones is
-- cancelled.
-- p_limit  of one task at a time
create or replace function make_occurrences(p_ids text[], p_now timestamptz, p_limit integer) returns setof item
language plpgsql as $$
declare
  v_tasks text[];
  v_times timestamptz[];
  v_superseded text[];
begin
  perform 1 from task where id = any (p_ids) order by id for update;
  with due as materialized (
    select t.id, array(select d from due_times(t, p_now, p_limit) d) as times from task t where t.id = any (p_ids)
  ), marked as (
    update task t set made_until = case when cardinality(d.times) = p_limit then d.times[p_limit] else p_now end
      -- the second condition: while the statistics know of a few tasks only, a join with `due` would read all of them
      from due d where t.id = d.id and t.id = any (p_ids))
  select array_agg(d.id order by d.id, s.at), array_agg(s.at order by d.id, s.at) into v_tasks, v_times
    from due d cross join lateral unnest(d.times) as s (at);
  if v_tasks is null then return; end if;
  return query select * from put_occurrences(v_tasks, v_times, p_now);
  -- task by task, whatever the statistics say
  v_superseded := array(
    select i.id from unnest(v_tasks, v_times) as s (id, at)
     cross join lateral (select from task where id = s.id and type = 'rotate' and catch_up = 'newest' offset 0) t
     cross join lateral (
       select id from item
        where kind = 'task' and id > s.id || '/' and id < s.id || '0' and available_at < s.at offset 0) i);
  v_superseded := array(
    select id from item where kind = 'task' and id = any (v_superseded) and ended_at is null and not closing
     order by id for update);
  return query select * from void_occurrences(v_superseded, 'superseded', 'system', p_now);
end $$;

-- Makes occurrences. One that was cancelled because the task's times changed comes back when they change again, and one
-- that was missed when the bound is raised, and one that was completed when it is to be dispatched more often.
create or replace function put_occurrences(p_tasks text[], p_times timestamptz[], p_now timestamptz) returns setof item
language plpgsql as $$
declare
  v_reopened text[];
begin
  return query
  insert into item as i (kind, id, queue, state, rank, body, content_hash, callback, capacity, version,
                         created_at, available_at, first_available_at, deadline_at, wake_at, stocked_by,
                         event_seq, last_event, last_actor, last_data, updated_at)
  select 'task', t.id || '/' || iso_time(s.at), t.queue, case when s.at > p_now then 'delayed' else 'ready' end,
         item_rank('task', 0, s.at, null, false), t.params, t.content_hash, t.callback, t.dispatch_times,
         nextval('item_version'), p_now, s.at, s.at, d.deadline_at,
         case when s.at > p_now then s.at else d.deadline_at end,
         case when s.at <= p_now then pg_current_xact_id() end,
         1, 'created', 'system', json_build_object('executor', t.executor, 'startTime', iso_time(s.at)), p_now
    from unnest(p_tasks, p_times) with ordinality as s (task, at, n)
    -- the second condition: see make_occurrences
    join task t on t.id = s.task and t.id = any (p_tasks)
   cross join lateral (select occurrence_deadline(t, s.at) as deadline_at) d
   order by s.n
  on conflict (kind, id) do update
     set queue = excluded.queue, state = excluded.state, body = excluded.body, callback = excluded.callback,
         capacity = excluded.capacity - times_completed(i.id), deadline_at = excluded.deadline_at,
         wake_at = excluded.wake_at, closing = false,
         stocked_by = case when excluded.state = 'ready' then pg_current_xact_id() end,
         end_reason = null, result = null, delivery_pending = false,
         event_seq = i.event_seq + 1, last_event = 'rescheduled', last_actor = 'system', last_data = null
   where (i.state = 'invalidated' and i.end_reason = 'rescheduled' or i.state = 'expired'
          or i.state = 'settled' and not i.closing and excluded.capacity > times_completed(i.id))
     and (excluded.deadline_at is null or excluded.deadline_at > p_now)
  returning *;
  v_reopened := array(
    select i.id from unnest(p_tasks, p_times) as s (task, at)
     cross join lateral (
       select id, last_event from item where kind = 'task' and id = s.task || '/' || iso_time(s.at) offset 0) i
     where i.last_event = 'rescheduled');
  -- their next end is delivered as number 1, with all completions (services/deliveries/outcomes.ts)
  update delivery d
     set n = (select max(o.n) + 1 from delivery o where o.kind = 'task' and o.item_id = d.item_id), updated_at = p_now,
         error = case when d.state = 'pending' then 'superseded: the task is dispatched again' else d.error end,
         state = case when d.state = 'pending' then 'failed' else d.state end
   where d.kind = 'task' and d.item_id = any (v_reopened) and d.n = 1;
end $$;

create or replace function times_completed(p_item text) returns integer language sql stable as $$
  select count(*)::integer from lease where kind = 'task' and item_id = p_item and why = 'settled'
$$;

-- Until when an occurrence can be handed out: its greatest look-back, and the end of a task that runs once; null: for
-- ever.
create or replace function occurrence_deadline(t task, p_at timestamptz) returns timestamptz
language sql immutable as $$
  select least(p_at + make_interval(secs => t.max_lookback_seconds), case when t.type = 'once' then t.end_time end)
$$;

-- Advances rotating tasks that are due: makes the occurrences, and sets the wake time to the next one. Neither version
-- nor event changes, as with a renewed lease: the workflow reads the row anyway when its timer fires.
create or replace function advance_rotations(p_ids text[]) returns setof item language plpgsql as $$
declare
  v_now timestamptz;
begin
  perform 1 from item where kind = 'rotation' and id = any (p_ids) and ended_at is null order by id for update;
  v_now := clock_timestamp();
  return query select * from plan_tasks(array(
    select id from item where kind = 'rotation' and id = any (p_ids) and ended_at is null and wake_at <= v_now), v_now);
end $$;

-- Sets when rotating tasks occur next; one that does not any more ends.
create or replace function set_rotations(p_ids text[], p_now timestamptz) returns setof item language plpgsql as $$
declare
  v_going text[];
  v_times timestamptz[];
  v_over text[];
begin
  select array_agg(n.id) filter (where n.at is not null), array_agg(n.at) filter (where n.at is not null),
         array_agg(n.id) filter (where n.at is null) into v_going, v_times, v_over
    from (select t.id, (
            select task_times(t, t.made_until, greatest(t.made_until, t.start_time) + 2 * task_step(t), 1)) as at
            from task t where t.id = any (p_ids) and t.type = 'rotate') n;
  if v_going is not null then
    return query
    update item i set available_at = s.at, wake_at = s.at, updated_at = p_now
      from unnest(v_going, v_times) as s (id, at)
     where i.kind = 'rotation' and i.id = any (v_going) and i.id = s.id and i.ended_at is null returning i.*;
  end if;
  if v_over is null then return; end if;
  return query
    update item
       set state = 'expired', event_seq = event_seq + 1, last_event = 'ended', last_actor = 'system', last_data = null
     where kind = 'rotation' and id = any (v_over) and ended_at is null returning *;
end $$;
