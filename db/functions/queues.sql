-- Deleted queues and topics. Each leaves a hidden row with the defaults, to which an item that another node adds at
-- this moment refers; the queue then exists again (docs/decisions/0016-deleted-queues-leave-a-row.md).
create or replace function is_there(q queue) returns boolean language sql stable as $$
  select q.deleted_at is null or case q.kind when 'case' then has_open_cases(q.name) else has_items(q.kind, q.name) end
$$;

-- Only one that has no items, open or final, and no schedules, and where nothing is to go by the settings of others.
-- @returns deleted, used, `named by …`, not_found
create or replace function delete_queue(p_kind text, p_name text) returns text language plpgsql as $$
declare
  q queue;
  v_by text;
begin
  select * into q from queue where kind = p_kind and name = p_name for update;
  if not found or not is_there(q) then return 'not_found'; end if;
  if has_items(p_kind, p_name)
     or p_kind = 'job' and exists (select from schedule s where s.topic = p_name) then return 'used'; end if;
  if p_kind = 'ticket' then
    v_by := coalesce(
      (select 'queue ' || name from queue
        where kind = 'ticket' and second ->> 'queue' = p_name and name <> p_name limit 1),
      (select 'court ' || c.name from court c join queue o on o.kind = 'case' and o.name = c.name and is_there(o)
        where c.fallback ->> 'queue' = p_name limit 1));
    if v_by is not null then return 'named by ' || v_by; end if;
  end if;
  -- made anew, so that no setting is left of it
  delete from queue where kind = p_kind and name = p_name;
  delete from gold where p_kind = 'ticket' and queue = p_name;
  delete from saved where p_kind = 'ticket' and queue = p_name;
  insert into queue (kind, name, deleted_at) values (p_kind, p_name, clock_timestamp());
  return 'deleted';
end $$;

create or replace function has_items(p_kind text, p_queue text) returns boolean language sql stable as $$
  select exists (select from item where queue = p_queue and kind = p_kind and state = 'held')
      or exists (select from item where queue = p_queue and kind = p_kind and state <> 'held')
$$;

-- One batch of a queue's open items in the order of their creation, which each keeps whatever becomes of it.
create or replace function open_items(
  p_kind text, p_queue text, p_after timestamptz, p_after_seq bigint, p_limit integer
) returns table (id text, created_at timestamptz, seq bigint) language sql stable as $$
  select i.id, i.created_at, i.seq from (
    select h.id, h.created_at, h.seq from item h
     where h.kind = p_kind and h.queue = p_queue and h.state = 'held' and (h.created_at, h.seq) > (p_after, p_after_seq)
    union all
    select o.* from unnest(array['ready', 'delayed', 'buried']) as s (state) cross join lateral (
      select o.id, o.created_at, o.seq from item o
       where o.kind = p_kind and o.queue = p_queue and o.state = s.state and o.state <> 'held'
         and (o.created_at, o.seq) > (p_after, p_after_seq)
       order by o.created_at, o.seq limit p_limit) o) i
   order by i.created_at, i.seq limit p_limit
$$;
