-- Task commands: add, change and delete (S4.1–S4.3, S4.9). A task and its occurrences change in one transaction, so
-- the next pull sees nothing out of date (S4.11).

-- Adds a task, and the occurrences that are due. A queue of rotating tasks is locked while they are counted, so that
-- the limit holds under concurrent adds.
-- outcome  created, exists, limit, no_template (it was deleted meanwhile), too_many (occurrences in the look-back)
create or replace function add_task(p_task json, p_limit integer, p_actor text)
returns table (outcome text, item item) language plpgsql as $$
#variable_conflict use_column
declare
  t task := json_populate_record(null::task, p_task);
  v_now timestamptz;
begin
  if t.type = 'rotate' then perform pg_advisory_xact_lock(person_key('rotations', t.queue, '')); end if;
  perform 1 from task_template where id = t.template_id for key share;
  if not found then return query select 'no_template', null::item; return; end if;
  v_now := clock_timestamp();
  if t.type = 'rotate' and too_many_rotations(t.queue, t.id, p_limit)
    and not exists (select from task where id = t.id) then
    return query select 'limit', null::item; return;
  end if;
  t.made_until := plan_from(t, null, v_now);
  if too_many_due(t, null, v_now) and not exists (select from task where id = t.id) then
    return query select 'too_many', null::item; return;
  end if;
  insert into task (id, type, executor, queue, start_time, every_minutes, daily_time, every_days, timezone, template_id,
                    template_version, params, dispatch_times, dispatch, catch_up, lookback_seconds,
                    max_lookback_seconds, answer_seconds, end_time, callback, content_hash, made_until,
                    created_at, updated_at)
  values (t.id, t.type, t.executor, t.queue, t.start_time, t.every_minutes, t.daily_time, t.every_days, t.timezone,
          t.template_id, coalesce(t.template_version, 1), t.params, t.dispatch_times, t.dispatch, t.catch_up,
          t.lookback_seconds, t.max_lookback_seconds, t.answer_seconds, t.end_time, t.callback, t.content_hash,
          t.made_until, v_now, v_now)
  on conflict (id) do nothing;
  if not found then return query select 'exists', null::item; return; end if;
  if t.type = 'rotate' then
    insert into item (kind, id, queue, state, rank, body, content_hash, version, created_at, available_at,
                      first_available_at, wake_at, event_seq, last_event, last_actor, last_data, updated_at)
    values ('rotation', t.id, t.queue, 'delayed', 0, t.params, t.content_hash, nextval('item_version'), v_now,
            t.start_time, t.start_time, t.start_time, 1, 'created', p_actor,
            json_build_object('executor', t.executor), v_now);
  end if;
  return query select 'created', m from plan_tasks(array[t.id], v_now) m;
  -- no occurrence was made
  if not found then return query select 'created', null::item; end if;
end $$;

-- Deletes a template that no active task uses. Adding a task locks its template until the commit.
-- @returns deleted, used, not_found
create or replace function delete_template(p_id text) returns text language plpgsql as $$
begin
  perform 1 from task_template where id = p_id for update;
  if not found then return 'not_found'; end if;
  if exists (select from task where template_id = p_id and state = 'active') then return 'used'; end if;
  delete from task_template where id = p_id;
  delete from task_template_version where template_id = p_id;
  return 'deleted';
end $$;

-- Changes a template. Tasks keep the version that they were made with, so earlier parameters are kept.
-- p_name, p_params  null: as it was
create or replace function change_template(p_id text, p_name text, p_params json) returns setof task_template
language plpgsql as $$
declare
  t task_template;
begin
  select * into t from task_template where id = p_id for update;
  if p_params::jsonb <> t.params::jsonb then
    insert into task_template_version values (t.id, t.version, t.params);
    t.version := t.version + 1;
    t.params := p_params;
  end if;
  return query update task_template set name = coalesce(p_name, name), version = t.version, params = t.params
                where id = p_id returning *;
end $$;

create or replace function too_many_rotations(p_queue text, p_but text, p_limit integer) returns boolean
language sql stable as $$
  select count(*) >= p_limit from item where queue = p_queue and kind = 'rotation' and state = 'delayed' and id <> p_but
$$;

-- Makes the occurrences of tasks that are due, and sets when those that rotate occur next.
create or replace function plan_tasks(p_ids text[], p_now timestamptz) returns setof item language plpgsql as $$
begin
  return query select * from make_occurrences(p_ids, p_now, 1000);
  return query select * from set_rotations(p_ids, p_now);
end $$;

-- Locks the occurrences of a task that can still be dispatched.
create or replace function open_occurrences(p_task text) returns text[] language sql as $$
  select array(
    select id from item
     where kind = 'task' and id > p_task || '/' and id < p_task || '0' and ended_at is null and not closing
     order by id for update)
$$;

-- Changes a task: p_task is the whole new task, made from revision p_seen. It acts on what has not been dispatched:
-- occurrences at times that the task no longer has are cancelled, those at times that it keeps stay, new ones are made;
-- all occurrences with stock take the other fields. Dispatches go on as they were given.
-- outcome  changed, again (it was changed meanwhile), deleted, not_found, limit, no_template (it was deleted
--          meanwhile), too_many (occurrences in the look-back)
create or replace function change_task(p_id text, p_task json, p_seen integer, p_limit integer, p_actor text)
returns table (outcome text, item item) language plpgsql as $$
#variable_conflict use_column
declare
  o task;
  t task := json_populate_record(null::task, p_task);
  v_now timestamptz;
  v_ids text[];
  v_changed json;
begin
  if t.type = 'rotate' then perform pg_advisory_xact_lock(person_key('rotations', t.queue, '')); end if;
  -- locked before the task, in the same order as the clocks do
  perform 1 from item where kind = 'rotation' and id = p_id for update;
  select * into o from task where id = p_id for update;
  if not found then return query select 'not_found', null::item; return; end if;
  if o.state = 'deleted' then return query select 'deleted', null::item; return; end if;
  if o.revision <> p_seen then return query select 'again', null::item; return; end if;
  if t.type = 'rotate' and t.queue <> o.queue and too_many_rotations(t.queue, p_id, p_limit) then
    return query select 'limit', null::item; return;
  end if;
  perform 1 from task_template where id = t.template_id for key share;
  if not found then return query select 'no_template', null::item; return; end if;
  v_now := clock_timestamp();
  t.made_until := plan_from(t, o, v_now);
  o.made_until := plan_from(o, null, v_now);
  if too_many_due(t, o, v_now) then return query select 'too_many', null::item; return; end if;
  update task
     set executor = t.executor, queue = t.queue, start_time = t.start_time, every_minutes = t.every_minutes,
         daily_time = t.daily_time, every_days = t.every_days, timezone = t.timezone, template_id = t.template_id,
         template_version = t.template_version, params = t.params, dispatch_times = t.dispatch_times,
         dispatch = t.dispatch, catch_up = t.catch_up,
         lookback_seconds = t.lookback_seconds, max_lookback_seconds = t.max_lookback_seconds,
         answer_seconds = t.answer_seconds, end_time = t.end_time, callback = t.callback, made_until = t.made_until,
         revision = o.revision + 1, updated_at = v_now
   where id = p_id returning * into t;
  select json_object_agg(api_name(n.key), case when n.key like '%\_time' and n.key <> 'daily_time'
                                                 then to_jsonb(iso_time((n.value #>> '{}')::timestamptz))
                                               else n.value end) into v_changed
    from jsonb_each(to_jsonb(t) - '{queue,made_until,revision,updated_at,callback}'::text[]) n
   where n.value is distinct from to_jsonb(o) -> n.key;

  v_ids := array(
    select o.id from unnest(open_occurrences(p_id)) as o (id)
     cross join lateral (select available_at from item where kind = 'task' and id = o.id offset 0) i
     where not exists (select from task_times(t, i.available_at - interval '1 microsecond', i.available_at, 1))
     order by o.id);
  return query select 'changed', v from void_occurrences(v_ids, 'rescheduled', p_actor, v_now) v;
  v_ids := open_occurrences(p_id);
  if v_ids <> '{}' then
    update item set deadline_at = occurrence_deadline(t, available_at) where kind = 'task' and id = any (v_ids);
    perform recompute_occurrences(array(
      select (v, p_actor, json_build_object('changed', v_changed), null)::item_line
        from unnest(v_ids) v), 'changed', v_now);
    return query select 'changed', i from item i where i.kind = 'task' and i.id = any (v_ids);
  end if;
  update item i
     set queue = t.queue, state = 'delayed', wake_at = v_now,
         event_seq = event_seq + 1, last_event = 'changed', last_actor = p_actor,
         last_data = json_build_object('changed', v_changed)
   where i.kind = 'rotation' and i.id = p_id;
  return query select 'changed', m from plan_tasks(array[p_id], v_now) m;
  if t.dispatch = 'blocking' then
    insert into taken_task
    select distinct l.slot, l.item_id from unnest(open_occurrences(p_id)) as o (id)
     cross join lateral (
       select slot, item_id, why from lease where kind = 'task' and item_id = o.id offset 0) l
     where l.why is null or l.why in ('settled', 'expired')
        on conflict do nothing;
  end if;
  return query select 'changed', null::item;
end $$;

-- A column as the API calls it: dispatchTimes for dispatch_times.
create or replace function api_name(p_column text) returns text language sql immutable as $$
  select lower(left(s.words, 1)) || substr(s.words, 2)
    from (select replace(initcap(replace(p_column, '_', ' ')), ' ', '') as words) s
$$;

-- Deletes a task: no further occurrences, and no further dispatches of existing ones. Current dispatches may be
-- completed.
-- outcome  deleted, repeated, not_found
create or replace function delete_task(p_id text, p_reason text, p_actor text) returns table (outcome text, item item)
language plpgsql as $$
#variable_conflict use_column
declare
  t task;
  v_now timestamptz;
  v_ids text[];
begin
  perform 1 from item where kind = 'rotation' and id = p_id for update;
  select * into t from task where id = p_id for update;
  if not found then return query select 'not_found', null::item; return; end if;
  if t.state = 'deleted' then return query select 'repeated', null::item; return; end if;
  v_now := clock_timestamp();
  update task set state = 'deleted', updated_at = v_now where id = p_id returning * into t;
  return query
    update item i
       set state = 'invalidated', end_reason = p_reason,
           event_seq = event_seq + 1, last_event = 'deleted', last_actor = p_actor,
           last_data = json_build_object('reason', p_reason)
     where i.kind = 'rotation' and i.id = p_id and i.ended_at is null returning 'deleted', i;
  v_ids := open_occurrences(p_id);
  return query select 'deleted', v from void_occurrences(v_ids, coalesce(p_reason, 'deleted'), p_actor, v_now) v;
  return query select 'deleted', null::item;
end $$;
