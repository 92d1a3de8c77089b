-- What an operator sees first. All of it runs on the lists' connections.

-- name: overview
-- A page of queues, topics, courts or groups, newest first, with their counts. Each reads a range of the tally and the
-- head of an index. (With the collation of the tally's index, which groups' names do not have.) :patterns?: only names
-- that are LIKE one of these, with or without the `gid_` of executors; null: all.
-- not null: name, seq, paused, created_at, delayed, ready, held, buried, settled, invalidated, expired, dead
-- not null: lease_expired, failed, claims_last_minute, settled_last_minute
with page as (
  select q.name, q.name as queue, q.seq,
         q.paused or coalesce(q.paused_until > clock_timestamp(), false) as paused, q.created_at
    from queue q
   where :kind <> 'task' and q.kind = :kind and (:before?::bigint is null or q.seq < :before) and is_there(q)
     and (:patterns?::text[] is null or q.name like any (:patterns::text[])
          or regexp_replace(q.name, '^(gid_)+(?=.)', '') like any (:patterns::text[]))
   order by q.seq desc limit :limit
), groups as (
  select id as name, 'gid_' || id as queue, seq, false as paused, created_at
    from task_group where :kind = 'task' and (:before::bigint is null or seq < :before)
     and (:patterns::text[] is null or id like any (:patterns::text[])
          or regexp_replace(id, '^(gid_)+(?=.)', '') like any (:patterns::text[]))
   order by seq desc limit :limit
)
select p.name, p.seq, p.paused, p.created_at, c.*, m.*,
       (select extract(epoch from clock_timestamp() - min(first_available_at))::double precision
          from item where kind = :kind and queue = p.queue and state = 'ready'
           and not is_gold(look)) as oldest_waiting_seconds
  from (select * from page union all select * from groups) p
 cross join lateral counts_of(:kind, p.queue) c
 cross join lateral (
   select coalesce(sum(n) filter (where what = 'held'), 0)::bigint as claims_last_minute,
          coalesce(sum(n) filter (where what = 'settled'), 0)::bigint as settled_last_minute
     from tally
    where kind = :kind and queue = p.queue
      and at > (select clock_timestamp()) - interval '1 minute') m
 order by p.seq desc;

-- name: late_queues
-- Queues whose oldest item waits longer than the queue's own target: its `serviceSeconds`, else its first escalation,
-- else three quarters of its deadline. Of the newest :queues with such a setting.
select q.kind, q.name, o.seconds as "oldest_seconds!", t.seconds as "target_seconds!"
  from (select * from queue
         where (escalations <> '[]' or coalesce(service_seconds, deadline_seconds) is not null) and deleted_at is null
         order by kind, seq desc limit :queues) q
 cross join lateral (
   select coalesce(q.service_seconds, min((e ->> 'afterSeconds')::double precision), q.deadline_seconds * 0.75)
             as seconds
     from jsonb_array_elements(q.escalations) e) t
 cross join lateral (
   select extract(epoch from clock_timestamp() - min(first_available_at))::double precision as seconds
     from item where kind = q.kind and queue = q.name and state = 'ready' and not is_gold(look)) o
 where o.seconds > t.seconds order by o.seconds / t.seconds desc limit :limit;

-- name: overdue_count
select coalesce(sum(overdue_tickets(name, service_seconds)), 0)::integer as "n!"
  from (select name, service_seconds from queue where kind = 'ticket' and service_seconds is not null
         order by seq desc limit :queues) q;

-- name: paused_queues
select q.kind, q.name, t.waiting from queue q
 cross join lateral (select coalesce(sum(n), 0)::bigint as "waiting!"
                       from tally where kind = q.kind and queue = q.name and what = 'ready') t
 where (q.paused or q.paused_until > clock_timestamp()) and is_there(q) and t.waiting > 0
 order by t.waiting desc limit :limit;

-- name: failed_queues
-- Whose outcomes were given up, by the newest :lines such deliveries; a review's have no queue. An invitation that has
-- ended needs no delivery any more.
select kind, nullif(queue, '') as queue, count(*)::integer as "failed!", max(updated_at) as "newest!" from (
  select d.* from unnest(:kinds::text[]) as k (kind) cross join lateral (
    select kind, queue, updated_at
      from delivery o
     where o.state = 'failed' and o.kind = k.kind and delivery_counts_as(o) = 'failed'
     order by o.seq desc limit :lines) d) f
 group by kind, queue order by 3 desc limit :limit;

-- name: list_parked
(select kind as "kind!", item_id as "item_id!", until as "until!", error as "error!" from parked
  where until > clock_timestamp() order by until desc limit :limit)
union all
(select kind, id, rules_due_at, 'the rules of its queue cannot be evaluated in time' from item
  where :rules and rules_due_at > clock_timestamp() and ended_at is null order by rules_due_at limit :limit)
 limit :limit;

-- name: held_back_queues
-- Queues whose rules could not be evaluated in time for some of their tickets; the most such tickets first.
select queue as "queue!", count(*)::integer as "tickets!" from item
 where rules_due_at > clock_timestamp() and ended_at is null
 group by queue order by 2 desc, 1 limit :limit;

-- name: find_items
-- Items of all kinds whose id begins with :prefix, in the order of ids, without gold cases: a range of the primary
-- key for each kind. :afterId? and :afterKind?: the last one of the page before.
-- not null: kind, id, queue, state, created_at
select i.* from unnest(:kinds::text[]) as k (kind) cross join lateral (
  select kind, id, queue, state, created_at, holder, ended_at, ended_by from item
   where kind = k.kind and id >= :prefix::text and id < :prefix::text || chr(1114111)
     and not exists (select from case_file f where k.kind = 'case' and f.id = item.id and f.gold is not null)
     and (:afterId?::text is null or (id, kind) > (:afterId, :afterKind?::text))
   order by id limit :limit) i
 order by i.id, i.kind limit :limit;
