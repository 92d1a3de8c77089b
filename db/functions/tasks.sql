-- Occurrences of tasks, from when they are made to their end (S4.4–S4.7). An occurrence's row is the lock for its
-- dispatches. A client is locked before it: waiting for a client while holding an occurrence could deadlock.

-- The task that an occurrence belongs to: ids of tasks have no slash.
create or replace function task_of(p_item text) returns text language sql immutable parallel safe as $$
  select split_part(p_item, '/', 1)
$$;

-- Whether a caller excludes an occurrence: by its own id, or by its task's.
create or replace function is_excluded(p_item text, p_exclude text[]) returns boolean language sql immutable parallel safe as $$
  select p_item = any (p_exclude) or task_of(p_item) = any (p_exclude)
$$;

-- Computes an occurrence's stock, next wake time and end from its dispatches and its task. It is counted anew each time, so
-- no counter can drift. Every change ends here, except dispatches and completions that leave stock, which are frequent.
create or replace function recompute_occurrence(p_id text, p_event text, p_actor text, p_data json, p_now timestamptz)
returns void language plpgsql set enable_seqscan = off as $$
declare
  i item;
  t task;
  v_live integer;
  v_done integer;
  v_first timestamptz;
  v_open boolean;
  v_room integer;
  v_end text;
begin
  select * into i from item where kind = 'task' and id = p_id;
  select * into t from task where id = task_of(p_id);
  select count(*) filter (where ended_at is null), count(*) filter (where why = 'settled'), min(expires_at) filter (where ended_at is null)
    into v_live, v_done, v_first from lease where kind = 'task' and item_id = p_id;
  v_open := t.state = 'active' and not i.closing and i.deadline_at > p_now;
  v_room := case when v_open then greatest(t.dispatch_times - v_live - v_done, 0) else 0 end;
  v_end := case when v_room > 0 or v_live > 0 then null when v_done > 0 then 'settled'
                when i.closing or t.state = 'deleted' then 'invalidated' else 'expired' end;
  update item
     set queue = t.queue, body = t.params, callback = t.callback, room = case when v_end is null then v_room end,
         state = coalesce(v_end, i.state), ended_at = case when v_end is not null then p_now end,
         ended_by = case when v_end is not null then p_actor end,
         end_reason = case when v_end is not null then p_data ->> 'reason' end,
         result = case when v_end = 'settled' then json_build_object('completed', v_done) end,
         telling = coalesce(v_end = 'settled' and t.callback is not null, false),
         wake_at = case when v_end is null then least(case when i.state = 'delayed' then i.available_at end, v_first,
                                                      case when v_room > 0 then i.deadline_at end) end,
         version = nextval('item_version'), event_seq = event_seq + 1, last_event = p_event, last_actor = p_actor,
         last_data = p_data, updated_at = p_now,
         -- given back, raised or moved: it is new to clients that have passed it by
         stocked_by = case when v_end is null and v_room > 0 and (i.room = 0 or i.queue <> t.queue) then pg_current_xact_id()
                           else i.stocked_by end
   where kind = 'task' and id = p_id;
  if v_end is not null then delete from taken_task where item_id = p_id; end if;
end $$;

-- Ends dispatches that have not been completed: they are given back to stock, and their holders are notified.
-- p_overdue  only those whose time to answer is over
create or replace function return_dispatches(p_id text, p_why text, p_overdue boolean, p_actor text, p_now timestamptz)
returns void language plpgsql as $$
declare
  l lease;
begin
  for l in
    update lease set ended_at = greatest(p_now, granted_at), why = p_why, ended_by = p_actor
     where kind = 'task' and item_id = p_id and ended_at is null and (not p_overdue or expires_at <= p_now) returning *
  loop
    insert into notice (kind, item_id, queue, person, type, data)
    values ('task', p_id, l.queue, l.holder, 'lease_lost',
            json_build_object('reason', case p_why when 'expired' then 'expired' else 'revoked' end, 'by', p_actor));
    perform recompute_occurrence(p_id, 'returned', p_actor,
      json_build_object('logId', l.token, 'person', l.slot, 'uid', l.holder, 'params', l.given, 'reason', p_why), p_now);
  end loop;
end $$;

-- Does what is due for occurrences: their start, the end of dispatches that took too long, the end of their look-back.
create or replace function advance_tasks(p_ids text[]) returns setof item language plpgsql as $$
declare
  i item;
  v_now timestamptz;
begin
  for i in select * from item where kind = 'task' and id = any (p_ids) and ended_at is null order by id for update loop
    v_now := clock_timestamp();
    continue when i.wake_at is null or i.wake_at > v_now;
    perform return_dispatches(i.id, 'expired', true, 'system', v_now);
    if i.deadline_at <= v_now and i.room > 0 then
      perform recompute_occurrence(i.id, 'expired', 'system', json_build_object('reason', 'look-back'), v_now)
        from item where kind = 'task' and id = i.id and ended_at is null;
    elsif i.state = 'delayed' then
      update item set state = 'ready', wake_at = i.deadline_at, stocked_by = pg_current_xact_id(), version = nextval('item_version'),
             event_seq = event_seq + 1, last_event = 'available', last_actor = 'system', last_data = null, updated_at = v_now
       where kind = 'task' and id = i.id;
    else
      -- the dispatch that it was to wake for has been completed meanwhile
      update item set wake_at = least(case when room > 0 then deadline_at end, (
               select min(expires_at) from lease where kind = 'task' and item_id = i.id and ended_at is null))
       where kind = 'task' and id = i.id and ended_at is null;
    end if;
    return query select * from item where kind = 'task' and id = i.id;
  end loop;
end $$;

-- Voids what has not been dispatched of a task's open occurrences: those before p_before, or, without it, those whose
-- id is not in p_kept. Dispatches go on.
create or replace function void_occurrences(
  t task, p_kept text[], p_before timestamptz, p_reason text, p_actor text, p_now timestamptz
) returns setof item language plpgsql as $$
declare
  v_id text;
  v_unused text[];
  v_used text[];
begin
  select array_agg(s.id) filter (where s.attempts = 0), array_agg(s.id) filter (where s.attempts > 0) into v_unused, v_used from (
    select id, attempts from item
     where kind = 'task' and id > t.id || '/' and id < t.id || '0' and ended_at is null and not closing
       and case when p_before is null then not id = any (p_kept) else available_at < p_before end
     order by id for update) s;
  -- most have never been dispatched, and there may be thousands: they end in one statement
  return query
    update item
       set closing = true, state = 'invalidated', room = null, ended_at = p_now, ended_by = p_actor, end_reason = p_reason,
           wake_at = null, version = nextval('item_version'), event_seq = event_seq + 1, last_event = 'cancelled',
           last_actor = p_actor, last_data = json_build_object('reason', p_reason), updated_at = p_now
     where kind = 'task' and id = any (v_unused) returning *;
  foreach v_id in array coalesce(v_used, '{}') loop
    update item set closing = true where kind = 'task' and id = v_id;
    perform recompute_occurrence(v_id, 'cancelled', p_actor, json_build_object('reason', p_reason), p_now);
    return query select * from item where kind = 'task' and id = v_id;
  end loop;
end $$;

-- Ends an occurrence with all of its dispatches, on an operator's command.
create or replace function cancel_occurrence(p_id text, p_reason text, p_actor text) returns setof item language plpgsql as $$
declare
  v_now timestamptz;
begin
  perform 1 from item where kind = 'task' and id = p_id and ended_at is null for update;
  if not found then return; end if;
  v_now := clock_timestamp();
  perform return_dispatches(p_id, 'revoked', false, p_actor, v_now);
  update item set closing = true where kind = 'task' and id = p_id;
  perform recompute_occurrence(p_id, 'cancelled', p_actor, json_build_object('reason', p_reason), v_now)
    from item where kind = 'task' and id = p_id and ended_at is null;
  return query select * from item where kind = 'task' and id = p_id;
end $$;
