-- Occurrences of tasks, from when they are made to their end (S4.4–S4.7). An occurrence's row is the lock for its
-- dispatches. A client is locked before it: waiting for a client while holding an occurrence could deadlock.

-- The task that an occurrence belongs to: ids of tasks have no slash.
create or replace function task_of(p_item text) returns text language sql immutable parallel safe
  return split_part(p_item, '/', 1);

-- Whether a caller excludes an occurrence: by its own id, or by its task's.
create or replace function is_excluded(p_item text, p_exclude text[]) returns boolean
language sql immutable parallel safe as $$
  select p_item = any (p_exclude) or task_of(p_item) = any (p_exclude)
$$;

-- Computes stock, next wake time and end of occurrences from their dispatches and tasks. Each change computes them
-- anew, so no counter can drift. Every change ends here, except dispatches and completions that leave stock, which are
-- frequent.
-- p_lines  what happened, one line each; they are all of one type
create or replace function recompute_occurrences(p_lines item_line[], p_event text, p_now timestamptz) returns void
language plpgsql as $$
begin
  perform earlier_lines('task', p_lines, p_event, p_now);
  with counted as materialized (
    select l.id, l.actor, l.data, l.n, t.queue, t.params, t.callback, c.done, c.first_end, s.capacity,
           case when s.capacity > 0 or c.live > 0 then null when c.done > 0 then 'settled'
                when i.closing or t.state = 'deleted' then 'invalidated' else 'expired' end as final
      from last_lines(p_lines) l
     cross join lateral (select * from item where kind = 'task' and id = l.id offset 0) i
      join task t on t.id = task_of(l.id)
     cross join lateral (
       select count(*) filter (where o.ended_at is null) as live, count(*) filter (where o.why = 'settled') as done,
              min(o.expires_at) filter (where o.ended_at is null) as first_end
         from lease o where o.kind = 'task' and o.item_id = l.id) c
     cross join lateral (
       select case when t.state = 'active' and not i.closing and coalesce(i.deadline_at > p_now, true)
                   then greatest(t.dispatch_times - c.live - c.done, 0) else 0 end as capacity) s)
  update item i
     set queue = n.queue, body = n.params, callback = n.callback,
         capacity = n.capacity, state = coalesce(n.final, i.state),
         end_reason = case when n.final is not null then n.data ->> 'reason' end,
         result = case when n.final = 'settled' then json_build_object('completed', n.done) end,
         delivery_pending = coalesce(n.final = 'settled' and n.callback is not null, false),
         wake_at = least(case when i.state = 'delayed' then i.available_at end, n.first_end,
                         case when n.capacity > 0 then i.deadline_at end),
         event_seq = i.event_seq + n.n, last_event = p_event, last_actor = n.actor, last_data = n.data,
         updated_at = p_now,
         -- given back, raised or moved: it is new to clients that have passed it by
         stocked_by = case when n.final is null and n.capacity > 0 and (i.capacity = 0 or i.queue <> n.queue)
                             then pg_current_xact_id()
                           else i.stocked_by end
    from counted n
   where i.kind = 'task' and i.id = any (array(select id from unnest(p_lines))) and i.id = n.id;
  delete from taken_task g using item i
   where g.item_id in (select id from unnest(p_lines)) and i.kind = 'task' and i.id = g.item_id
     and i.ended_at is not null;
end $$;

-- Ends dispatches that have not been completed: they are given back to stock, and their holders are notified.
-- p_overdue  only those whose time to answer is over
-- p_token    only this one
create or replace function return_dispatches(
  p_ids text[], p_why text, p_overdue boolean, p_actor text, p_now timestamptz, p_token text default null,
  p_comment text default null
) returns void language plpgsql as $$
declare
  v_lines item_line[];
begin
  with returned as (
    update lease set ended_at = greatest(p_now, granted_at), why = p_why, ended_by = p_actor
     where kind = 'task' and item_id = any (p_ids) and ended_at is null and (not p_overdue or expires_at <= p_now)
       and (p_token is null or token = p_token)
    returning *
  ), noticed as (
    insert into notice (kind, item_id, queue, person, type, data)
    select 'task', item_id, queue, holder, 'lease_lost',
           json_build_object('reason', case p_why when 'expired' then 'expired' else 'revoked' end, 'by', p_actor)
      from returned where p_why <> 'released' order by item_id, granted_at
  ), counted as (
    insert into tally_line (kind, queue, what, n)
    select 'task', queue, 'lease_expired', count(*) from returned where p_why = 'expired' group by queue
  ) select array_agg((item_id, p_actor,
                      json_build_object('logId', token, 'person', slot, 'uid', holder, 'params', given,
                                        'reason', p_why, 'comment', p_comment), null)::item_line
                     order by item_id, granted_at)
      into v_lines from returned;
  if v_lines is not null then perform recompute_occurrences(v_lines, 'returned', p_now); end if;
end $$;

-- Does what is due for occurrences: their start, the end of dispatches that took too long, the end of their
-- greatest look-back.
create or replace function advance_tasks(p_ids text[]) returns setof item language plpgsql as $$
declare
  v_now timestamptz;
  v_due text[];
  v_over text[];
  v_starting text[];
begin
  perform 1 from item where kind = 'task' and id = any (p_ids) and ended_at is null order by id for update;
  v_now := clock_timestamp();
  select array_agg(id), coalesce(array_agg(id) filter (where deadline_at <= v_now and capacity > 0), '{}'),
         array_agg(id) filter (where state = 'delayed' and coalesce(deadline_at > v_now, true))
    into v_due, v_over, v_starting
    from item where kind = 'task' and id = any (p_ids) and ended_at is null and wake_at <= v_now;
  if v_due is null then return; end if;
  perform return_dispatches(v_due, 'expired', true, 'system', v_now);
  perform redo_occurrences(v_over, 'expired', 'system', 'look-back', v_now);
  if v_starting is not null then
    update item
       set state = 'ready', wake_at = deadline_at, stocked_by = pg_current_xact_id(),
           event_seq = event_seq + 1, last_event = 'available', last_actor = 'system', last_data = null
     where kind = 'task' and id = any (v_starting);
  end if;
  if exists (select from item where kind = 'task' and id = any (v_due) and ended_at is null and wake_at <= v_now) then
    -- the dispatch that it was to wake for has been completed meanwhile
    update item i set wake_at = least(case when capacity > 0 then deadline_at end, (
             select min(expires_at) from lease o where o.kind = 'task' and o.item_id = i.id and o.ended_at is null))
     where kind = 'task' and id = any (v_due) and ended_at is null and wake_at <= v_now;
  end if;
  return query select * from item where kind = 'task' and id = any (v_due) order by id;
end $$;

-- Computes those of these occurrences that are open anew, after the same happened to each.
create or replace function redo_occurrences(p_ids text[], p_event text, p_actor text, p_reason text, p_now timestamptz)
returns void language plpgsql as $$
declare
  v_lines item_line[];
begin
  if p_ids = '{}' then return; end if;
  select array_agg((id, p_actor, json_build_object('reason', p_reason), null)::item_line order by id) into v_lines
    from item where kind = 'task' and id = any (p_ids) and ended_at is null;
  if v_lines is not null then perform recompute_occurrences(v_lines, p_event, p_now); end if;
end $$;

-- Voids what has not been dispatched of open occurrences, which the caller has locked. Dispatches go on.
create or replace function void_occurrences(p_ids text[], p_reason text, p_actor text, p_now timestamptz)
returns setof item language plpgsql as $$
declare
  v_used text[] := array(select id from item where kind = 'task' and id = any (p_ids) and attempts > 0);
begin
  if p_ids = '{}' then return; end if;
  -- most have never been dispatched, and there may be thousands
  return query
    update item
       set closing = true, state = 'invalidated', end_reason = p_reason, event_seq = event_seq + 1,
           last_event = 'cancelled', last_actor = p_actor, last_data = json_build_object('reason', p_reason)
     where kind = 'task' and id = any (p_ids) and attempts = 0 returning *;
  if v_used = '{}' then return; end if;
  update item set closing = true where kind = 'task' and id = any (v_used);
  perform redo_occurrences(v_used, 'cancelled', p_actor, p_reason, p_now);
  return query select * from item where kind = 'task' and id = any (v_used);
end $$;

-- Ends an occurrence with all of its dispatches, on an operator's command.
create or replace function cancel_occurrence(p_id text, p_reason text, p_actor text) returns setof item
language plpgsql as $$
declare
  v_now timestamptz;
begin
  perform 1 from item where kind = 'task' and id = p_id and ended_at is null for update;
  if not found then return; end if;
  v_now := clock_timestamp();
  perform return_dispatches(array[p_id], 'revoked', false, p_actor, v_now);
  update item set closing = true where kind = 'task' and id = p_id;
  perform redo_occurrences(array[p_id], 'cancelled', p_actor, p_reason, v_now);
  return query select * from item where kind = 'task' and id = p_id;
end $$;
