-- Figures of GET /metrics about the whole system, beside those for operators (overview.sql, followers.sql,
-- deliveries.sql). All run on the lists' connections at each scrape and read counts and heads of indexes: their cost
-- does not depend on the number of items.

-- name: queue_metrics
-- not null: kind, delayed, ready, held, buried, added, settled, invalidated, expired, dead, lapsed
-- The :limit oldest queues, topics, courts and groups, so that they stay the same, each with its counts and its oldest
-- item. The others of a kind together (`queue` null): the newest samples, a minute old at most, and the counters of the
-- kind, less those. Executors that are users are among them.
-- (With the collation of the index of the tally, which queues' names do not have.)
with named as materialized (
  select * from (
    select k.kind, q.name as queue, q.seq, q.created_at from unnest(array['ticket', 'job', 'case']) as k (kind)
     cross join lateral (
       select name, seq, created_at from queue q where q.kind = k.kind and is_there(q) order by q.seq limit :limit) q
    union all
    select 'task', 'gid_' || g.id, g.seq, g.created_at
      from (select id, seq, created_at from task_group order by seq limit :limit) g) n
   order by n.created_at limit :limit
), figures as materialized (
  -- of each of them, and of all of its kind (queue ''): the counters, and the counts of the newest sample
  select q.kind, q.queue, case q.queue when '' then 1 else -1 end as sign, s.*, m.*
    from (select kind, queue from named union all
          select kind, '' from unnest(array['ticket', 'job', 'case', 'task']) as k (kind)) q
   cross join lateral (
     select coalesce(sum(n) filter (where what = 'added'), 0)::bigint as added,
            coalesce(sum(n) filter (where what = 'settled'), 0)::bigint as settled,
            coalesce(sum(n) filter (where what = 'invalidated'), 0)::bigint as invalidated,
            coalesce(sum(n) filter (where what = 'expired'), 0)::bigint as expired,
            coalesce(sum(n) filter (where what = 'dead'), 0)::bigint as dead,
            coalesce(sum(n) filter (where what = 'lapsed'), 0)::bigint as lapsed
       from tally_sum where kind = 'counted/' || q.kind and queue = q.queue) s
    left join lateral (
      select delayed, ready, held, buried from sample
       where kind = q.kind and queue = q.queue order by at desc limit 1) m on true
), others as materialized (
  select k.kind from unnest(array['ticket', 'job', 'case', 'task']) as k (kind)
   where k.kind = 'task' or exists (
     select from queue q
      where q.kind = k.kind and is_there(q)
        and q.seq > coalesce((select max(n.seq) from named n where n.kind = k.kind), 0))
)
select n.kind, n.queue, c.delayed, c.ready, c.held, c.buried,
       f.added, f.settled, f.invalidated, f.expired, f.dead, f.lapsed,
       (select extract(epoch from clock_timestamp() - min(i.first_available_at))::double precision
          from item i where i.kind = n.kind and i.queue = n.queue and i.state = 'ready'
             and not is_gold(i.look)) as oldest_seconds,
       (select overdue_tickets(q.name, q.service_seconds) from queue q
         where q.kind = n.kind and q.name = n.queue and q.service_seconds is not null) as overdue
  from named n cross join lateral counts_of(n.kind, n.queue) c join figures f on f.kind = n.kind and f.queue = n.queue
union all
select o.kind, null, f.*, null, null from others o cross join lateral (
  select greatest(sum(sign * delayed), 0)::bigint, greatest(sum(sign * ready), 0)::bigint,
         greatest(sum(sign * held), 0)::bigint, greatest(sum(sign * buried), 0)::bigint,
         greatest(sum(sign * added), 0)::bigint, greatest(sum(sign * settled), 0)::bigint,
         greatest(sum(sign * invalidated), 0)::bigint, greatest(sum(sign * expired), 0)::bigint,
         greatest(sum(sign * dead), 0)::bigint, greatest(sum(sign * lapsed), 0)::bigint
    from figures where kind = o.kind) f;

-- name: pending_hosts
-- Where deliveries are pending, by the :lines oldest of each kind; the hosts with the most of them.
select p.host, count(*)::integer as "n!",
       extract(epoch from clock_timestamp() - min(p.created_at))::double precision as "oldest_seconds!"
  from unnest(:kinds::text[]) as k (kind) cross join lateral (
    select coalesce(d.host, '') as "host!", d.created_at
      from delivery d where d.state = 'pending' and d.kind = k.kind order by d.seq limit :lines) p
 group by p.host order by 2 desc, 1 limit :limit;
