-- The effects of time on items that one holder leases at a time (others: db/functions/cases.sql, tasks.sql,
-- rotations.sql); no other code acts on time (docs/ARCHITECTURE.md, the two clocks).
-- One pass applies one transition to each item given: its deadline first, then the end of its lease, then its delay,
-- then an escalation, then its target; what is due after that is done in the next pass.
create or replace function advance_items(p_kinds text[], p_ids text[]) returns setof item language plpgsql as $$
begin
  return query with due as materialized (
    select i.kind, i.id, q.reclaimed_first, q.level_seconds, q.escalations, q.rules, q.service_seconds,
           coalesce(i.callback, q.callback) is not null as tell, t.now, step.priority, step.seconds,
           i.deadline_at is not null and i.deadline_at <= t.now as overdue,
           case when i.deadline_at <= t.now then end_event(i.kind, overdue_state(i.kind))
                when i.state = 'held' and i.expires_at <= t.now then
                  case when i.attempts >= q.max_attempts then exhausted_state(i.kind) else 'reclaimed' end
                when i.state = 'delayed' and i.available_at <= t.now then 'available'
                when i.state = 'ready' and i.for_until <= t.now then 'changed'
                when step.priority > i.priority then 'escalated'
                when step.seconds is not null then 'stepped'
                when i.overdue_at <= t.now and i.first_available_at + make_interval(secs => q.service_seconds) <= t.now
                  then 'overdue' end as act
      from unnest(p_kinds, p_ids) as p (kind, id)
      join item i on i.kind = p.kind and i.id = p.id and clock_of(i.kind) = 'advance_items' and i.ended_at is null
     cross join lateral (select * from queue where kind = i.kind and name = i.queue offset 0) q
     cross join (select clock_timestamp() as now) t
     cross join lateral (
       select max(s.priority) as priority, max(s."afterSeconds") as seconds
         from jsonb_to_recordset(q.escalations) as s("afterSeconds" double precision, priority bigint)
        where s."afterSeconds" > i.escalated_seconds
          and i.first_available_at + make_interval(secs => s."afterSeconds") <= t.now) step
     order by i.kind, i.id
  ), next as materialized (
    select i.kind, i.id, d.act, d.now, d.tell,
           case when d.overdue then overdue_state(i.kind)
                else case d.act when 'dead' then 'dead' when 'buried' then 'buried'
                                when 'reclaimed' then 'ready' when 'available' then 'ready'
                                else i.state end end as state,
           case when d.act = 'escalated' then d.priority else i.priority end as priority,
           case when d.act in ('escalated', 'stepped') then d.seconds else i.escalated_seconds end as escalated_seconds,
           case when d.act = 'reclaimed' then d.reclaimed_first else i.front end as front,
           d.overdue or d.act = 'dead' as final,
           d.level_seconds, d.escalations, d.rules, d.service_seconds
      from due d join item i on i.kind = d.kind and i.id = d.id
     where d.act is not null
  )
  update item i
     set state = n.state, priority = n.priority, escalated_seconds = n.escalated_seconds, front = n.front,
         rank = case when n.act in ('reclaimed', 'escalated')
                     then item_rank(i.kind, n.priority, i.first_available_at, n.level_seconds, n.front) else i.rank end,
         rules_due_at = case when n.act = 'reclaimed' and n.rules <> '[]' then n.now else i.rules_due_at end,
         escalates_at = case when n.act in ('escalated', 'stepped')
                             then next_escalation(n.escalations, i.first_available_at, n.escalated_seconds)
                             else i.escalates_at end,
         overdue_at = case when n.act = 'overdue' then 'infinity' else i.overdue_at end,
         for_person = case when n.act <> 'changed' then i.for_person end,
         for_until = case when n.act <> 'changed' then i.for_until end,
         delivery_pending = n.final and n.tell,
         event_seq = i.event_seq + (n.act <> 'stepped')::integer, last_event = nullif(n.act, 'stepped'),
         last_actor = 'system',
         last_data = case n.act
           when 'reclaimed' then json_build_object('reviewer', i.holder, 'expiredAt', iso_time(i.expires_at))
           when 'dead'      then json_build_object('reviewer', i.holder, 'attempts', i.attempts)
           when 'buried'    then json_build_object('reason', 'attempts', 'attempts', i.attempts)
           when 'expired'   then json_build_object('deadlineAt', iso_time(i.deadline_at), 'reviewer', i.holder)
           when 'deleted'   then json_build_object('reason', 'deadline', 'deadlineAt', iso_time(i.deadline_at))
           when 'overdue'   then json_build_object('serviceSeconds', n.service_seconds)
           when 'changed'   then json_build_object('changed', json_build_object('for', null))
           when 'escalated' then json_build_object('from', i.priority, 'to', n.priority) end
    from next n
   where i.kind = n.kind and i.id = n.id
  returning i.*;
end $$;

-- One batch of what is due, in all queues. Rows another process is at are skipped.
create or replace function tick(p_limit integer) returns setof item language plpgsql as $$
declare
  v_kinds text[];
  v_ids text[];
begin
  -- the scalar subquery bounds the index scan; a bare volatile call would read the whole index
  select array_agg(kind), array_agg(id) into v_kinds, v_ids from (
    select i.kind, i.id from item i
     where i.wake_at <= (select clock_timestamp())
       and not exists (
         select 1 from parked p where p.kind = i.kind and p.item_id = i.id and p.until > clock_timestamp())
     order by i.wake_at limit p_limit for update skip locked) due;
  if v_ids is null then return; end if;
  return query select * from advance_apart(v_kinds, v_ids);
end $$;

-- Whether anything is due in these queues, for callers who are about to choose from them (S0.2, S0.3, S3.3). Not what
-- has been due for longer than p_since: the clock failed at it or is at a crowd, and beside a transaction that stays
-- open the index has all that was due since it began.
create or replace function is_due(p_kind text, p_queues text[], p_since interval default '1 minute') returns boolean
language plpgsql stable as $$
declare
  v_now timestamptz := clock_timestamp();
  v_from timestamptz := v_now - p_since;
begin
  return exists (
    select from item where kind = p_kind and queue = any (p_queues) and coalesce(wake_at, 'infinity') <> 'infinity'
       and coalesce(wake_at, 'infinity') > v_from and coalesce(wake_at, 'infinity') <= v_now);
end $$;

-- Does what is due, before the choice. Each pass applies one transition to each item. Of more than 100 it does those
-- that have been due for longest and that no clock is at, and leaves the rest to the clock. Rows are for what is
-- published: they have no body.
create or replace function advance_due(p_kind text, p_queues text[]) returns setof item language plpgsql as $$
declare
  r item;
  v_now timestamptz;
  v_ids text[];
  v_crowd boolean;
begin
  for pass in 1 .. 5 loop
    v_now := clock_timestamp();
    v_ids := array(
      select d.id from unnest(p_queues) as q (queue) cross join lateral (
        select i.id, i.wake_at from item i
         where i.kind = p_kind and i.queue = q.queue and coalesce(i.wake_at, 'infinity') <> 'infinity'
           and coalesce(i.wake_at, 'infinity') > v_now - interval '1 minute'
           and coalesce(i.wake_at, 'infinity') <= v_now
           and not exists (
             select from parked p where p.kind = i.kind and p.item_id = i.id and p.until > clock_timestamp())
         order by coalesce(i.wake_at, 'infinity') limit 101) d
       order by d.wake_at limit 101);
    v_crowd := cardinality(v_ids) > 100;
    v_ids := lock_due(p_kind, v_ids);
    exit when v_ids = '{}';
    for r in select * from advance_apart(array_fill(p_kind, array[cardinality(v_ids)]), v_ids) loop
      r.body := null;
      return next r;
    end loop;
    exit when v_crowd;
  end loop;
end $$;

-- Locks those of these items that are still due, in the order of ids, as everywhere. It waits for the clock, which may
-- be at them, but for nobody long; of more than 100 it takes what nobody has locked.
create or replace function lock_due(p_kind text, p_ids text[]) returns text[] language plpgsql
set lock_timeout = '250ms' as $$
begin
  if cardinality(p_ids) > 100 then raise lock_not_available; end if;
  return array(
    select l.id from (select id from unnest(p_ids) as s (id) order by id collate "C") d
     cross join lateral (
       select id, wake_at from item i where i.kind = p_kind and i.id = d.id offset 0 for update) l
     where l.wake_at <= clock_timestamp());
exception when lock_not_available then
  return array(
    select l.id from (select id from unnest(p_ids[:100]) as s (id) order by id collate "C") d
     cross join lateral (
       select id, wake_at from item i where i.kind = p_kind and i.id = d.id offset 0 for update skip locked) l
     where l.wake_at <= clock_timestamp());
end $$;

-- All at once, or one by one where one of them fails: that one is parked for a minute.
create or replace function advance_apart(p_kinds text[], p_ids text[]) returns setof item language plpgsql as $$
declare
  v_began timestamptz := clock_timestamp();
  v_moved integer;
begin
  begin
    return query select * from advance(p_kinds, p_ids);
    get diagnostics v_moved = row_count;
    if v_moved < cardinality(p_ids) then perform settle_idle(p_kinds, p_ids, v_began); end if;
  exception when others then
    for n in 1 .. cardinality(p_ids) loop
      begin
        return query select * from advance(p_kinds[n:n], p_ids[n:n]);
      exception
        -- others were at it: it is due still, and the next beat does it
        when deadlock_detected or serialization_failure then null;
        when others then perform park_item(p_kinds[n], p_ids[n], sqlerrm);
      end;
    end loop;
  end;
end $$;

-- What is due for these items, for callers who must not answer before it is done.
create or replace function tick_items(p_kind text, p_ids text[]) returns setof item language plpgsql as $$
begin
  perform 1 from item where kind = p_kind and id = any (p_ids) order by id for update;
  return query select * from advance_apart(array_fill(p_kind, array[cardinality(p_ids)]), p_ids);
end $$;

-- Updates items that were due without anything to do: their wake time comes from settings that they no longer have. It
-- is computed again, so that they do not stay first in the order of wake times; an item that is due even then is
-- parked.
create or replace function settle_idle(p_kinds text[], p_ids text[], p_began timestamptz) returns void
language plpgsql as $$
begin
  update item i set escalates_at = next_escalation(q.escalations, i.first_available_at, i.escalated_seconds),
         overdue_at = overdue_time(i.overdue_at, i.first_available_at, q.service_seconds)
    from unnest(p_kinds, p_ids) as p (kind, id), queue q
   where i.kind = p.kind and i.id = p.id and clock_of(i.kind) = 'advance_items'
     and i.ended_at is null and i.wake_at <= p_began and i.updated_at < p_began
     and q.kind = i.kind and q.name = i.queue;
  perform park_item(i.kind, i.id, 'it is due, and there is nothing to do')
     from unnest(p_kinds, p_ids) as p (kind, id)
     join item i on i.kind = p.kind and i.id = p.id
    where i.wake_at <= p_began and i.updated_at < p_began;
end $$;

create or replace function park_item(p_kind text, p_id text, p_error text) returns void language plpgsql as $$
begin
  insert into parked (kind, item_id, until, error)
  values (p_kind, p_id, clock_timestamp() + interval '1 minute', p_error)
  on conflict (kind, item_id) do update set until = excluded.until, error = excluded.error;
  begin
    update item set event_seq = event_seq + 1, last_event = 'parked', last_actor = 'system',
           last_data = json_build_object('error', p_error)
     where kind = p_kind and id = p_id;
  exception when others then
    null; -- whatever made the transition fail may refuse this too; the parked row is what counts
  end;
end $$;
