-- Which occurrence a client gets (S4.5, S4.6); db/functions/dispatches.sql locks and dispatches it.

-- The executors that a client pulls from: itself, and its groups with the transactions since which it is a member.
create or replace function executors_of(p_person text) returns table (queue text, joined_by xid8)
language sql stable rows 5 as $$
  select 'uid_' || p_person, null::xid8
   union all select 'gid_' || group_id, joined_by from member where person = p_person
$$;

-- How far back a client looks; null: it has completed nothing.
create or replace function look_back_of(p_person text) returns look_back language plpgsql stable as $$
declare
  b look_back;
begin
  select * into b from look_back where person = p_person;
  -- transactions are counted anew in a database that was restored from a dump
  if pg_snapshot_xmin(b.seen) > pg_snapshot_xmin(pg_current_snapshot()) then
    b.seen := null;
    b.first_seen := null;
  end if;
  return b;
end $$;

-- Whether something came with a transaction that had not been seen then.
create or replace function came_after(p_by xid8, p_seen pg_snapshot) returns boolean
language sql immutable parallel safe
  return not pg_visible_in_snapshot(p_by, p_seen);

-- The rank from which on a client looks through the stock of one of its executors.
create or replace function task_floor(b look_back, p_queue text, p_joined_by xid8, p_now timestamptz) returns bigint
language plpgsql stable as $$
declare
  v_oldest timestamptz;
begin
  if came_after(p_joined_by, b.seen) then return -9223372036854775808; end if;
  if b.seen is not null then return b.since_rank; end if;
  select p_now - make_interval(secs => max(lookback_seconds)) into v_oldest
    from task where queue = p_queue and state = 'active';
  return least(b.since_rank, item_rank('task', 0, v_oldest, null, false));
end $$;

-- Why a client may not have an occurrence that has stock; null: it may.
--   done    each client gets the task once, and this one has had it
--   tooOld  the client has completed nothing, and the occurrence is older than its look-back; or it was when the client
--           was given what it completed first
--   passed  began before what the client completed last, which was given by a call that could have given this instead
create or replace function task_denied(
  i item, p_person text, b look_back, p_joined_by xid8, p_now timestamptz
) returns text language plpgsql stable as $$
declare
  v_lookback interval;
begin
  if had_task(i, p_person) then return 'done'; end if;
  if b.seen is not null and i.rank >= greatest(b.since_rank, b.first_rank) then return null; end if;
  select make_interval(secs => lookback_seconds) into v_lookback from task where id = task_of(i.id);
  if b.seen is null then
    -- of a client that has completed something nothing is known to be passed by
    return case when i.available_at < p_now - v_lookback and (i.rank >= b.since_rank) is not true then 'tooOld' end;
  end if;
  if i.rank < b.first_rank and i.available_at < b.first_at - v_lookback
    and (came_after(i.stocked_by, b.first_seen) or came_after(p_joined_by, b.first_seen)) is not true then
    return 'tooOld';
  end if;
  return case when i.rank < b.since_rank and not is_excluded(i.id, b.excluded)
                   and (came_after(i.stocked_by, b.seen) or came_after(p_joined_by, b.seen)) is not true
              then 'passed' end;
end $$;

-- The occurrence that a client gets next: first a blocking one that it has taken, until that is used up (S4.4). Then
-- the earliest, except those that are denied (task_denied). A dispatch returned unanswered goes to others of the group,
-- or to the same client where there are none. Sorts are off, so that the first of a group is read at the head of an
-- index: statistics of many small groups make a sort look as cheap.
create or replace function first_task(p_person text, p_exclude text[], p_now timestamptz) returns text
language plpgsql stable set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off as $$
declare
  v_id text;
  b look_back;
begin
  -- from what the client has taken to its items: by such statistics the items of its groups look as few
  select i.id into v_id from (select item_id from taken_task where person = p_person offset 0) g
   cross join lateral (
     select id, rank, seq from item
      where kind = 'task' and id = g.item_id and state = 'ready' and capacity > 0
        and (deadline_at is null or deadline_at > p_now)
        and queue in (select queue from executors_of(p_person)) and not is_excluded(id, p_exclude) offset 0) i
    join task t on t.id = task_of(i.id) and t.dispatch = 'blocking'
   order by i.rank, i.seq limit 1;
  if found then return v_id; end if;

  b := look_back_of(p_person);
  select c.id into v_id from executors_of(p_person) e
   cross join lateral (select task_floor(b, e.queue, e.joined_by, p_now) as rank offset 0) f
   cross join lateral (
     (select i.id, i.rank, i.seq from item i
       where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.capacity > 0 and i.rank >= f.rank
         and (i.deadline_at is null or i.deadline_at > p_now) and not is_excluded(i.id, p_exclude)
         and task_denied(i, p_person, b, e.joined_by, p_now) is null
       order by i.rank, i.seq limit 1)
     union all
     -- what has come since, or was excluded; read by that, and not by rank, past all that the client has passed by
     (select (s.i).id, (s.i).rank, (s.i).seq from (
        select i from item i
         where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.capacity > 0
           and i.stocked_by >= pg_snapshot_xmin(b.seen)
        union all
        select i from unnest(b.excluded) as x (id)
         cross join lateral (select case when strpos(x.id, '/') > 0 then x.id else x.id || '/' end as first,
                                    case when strpos(x.id, '/') > 0 then x.id else x.id || '0' end as last) r
         cross join lateral (
           select i from item i
            where i.kind = 'task' and i.id >= r.first and i.id <= r.last and i.state = 'ready' and i.capacity > 0
              and i.queue = e.queue offset 0) i
        offset 0) s
       where (s.i).rank < f.rank and ((s.i).deadline_at is null or (s.i).deadline_at > p_now)
         and not is_excluded((s.i).id, p_exclude) and task_denied(s.i, p_person, b, e.joined_by, p_now) is null
       order by 2, 3 limit 1)) c
   order by c.rank, c.seq limit 1;
  return v_id;
end $$;

create or replace function had_task(i item, p_person text) returns boolean language plpgsql stable as $$
begin
  return exists (select from lease l where l.kind = 'task' and l.slot = p_person and l.item_id = i.id
                   and (l.why in ('settled', 'released', 'revoked') or i.queue like 'gid%'))
     and (select t.dispatch = 'each-once' from task t where t.id = task_of(i.id));
end $$;

-- Why a client gets nothing of an occurrence that is due; null: it may have it.
create or replace function task_obstacle(
  i item, p_person text, b look_back, p_joined_by xid8, p_now timestamptz
) returns text language plpgsql stable as $$
begin
  return case when i.capacity = 0 then case when had_task(i, p_person) then 'done' else 'taken' end
              when i.deadline_at <= p_now then 'tooOld'
              else task_denied(i, p_person, b, p_joined_by, p_now) end;
end $$;

-- The queues to wait at. With p_explain also when the next occurrence is due, and why there is none now, in counts up
-- to 1,000.
create or replace function task_prospect(p_person text, p_exclude text[], p_explain boolean, p_now timestamptz)
returns json language plpgsql stable as $$
declare
  v_queues text[] := array(select queue from executors_of(p_person));
  v_next timestamptz;
  v_reasons json;
  b look_back := look_back_of(p_person);
begin
  if not p_explain then return json_build_object('queues', v_queues); end if;
  select min(i.available_at) into v_next
    from unnest(v_queues) as e (queue), unnest(array['task', 'rotation']) as k (kind)
   cross join lateral (
     select o.available_at from item o
      where o.queue = e.queue and o.kind = k.kind and o.state = 'delayed' and not is_excluded(o.id, p_exclude)
      order by o.available_at limit 1) i;
  select json_build_object(
           'excluded', count(*) filter (where s.why = 'excluded'), 'done', count(*) filter (where s.why = 'done'),
           'taken', count(*) filter (where s.why = 'taken'), 'passed', count(*) filter (where s.why = 'passed'),
           'tooOld', least(1000, count(*) filter (where s.why = 'tooOld') + (
             select count(*) from (select from unnest(v_queues) as e (queue) join item o on o.queue = e.queue
                                    where o.kind = 'task' and o.state = 'expired' limit 1000) m)),
           'notYet', (
             select count(*) from (select from unnest(v_queues) as e (queue) join item o on o.queue = e.queue
                                    where o.kind in ('task', 'rotation') and o.state = 'delayed' limit 1000) d))
    into v_reasons
    from (select case when is_excluded(i.id, p_exclude) then 'excluded'
                      else task_obstacle(i, p_person, b, e.joined_by, p_now) end as why
            from executors_of(p_person) e
            join item i on i.queue = e.queue and i.kind = 'task' and i.state = 'ready' limit 1000) s;
  return json_build_object('queues', v_queues, 'nextAt', iso_time(v_next), 'reasons', v_reasons);
end $$;
