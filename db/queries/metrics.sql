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
), counters as materialized (
  select n.kind, n.queue, s.* from (
      select kind, queue from named union all
      select kind, '' from unnest(array['ticket', 'job', 'case', 'task']) as k (kind)) n
   cross join lateral (
     select coalesce(sum(s.n) filter (where s.what = 'added'), 0)::bigint as added,
            coalesce(sum(s.n) filter (where s.what = 'settled'), 0)::bigint as settled,
            coalesce(sum(s.n) filter (where s.what = 'invalidated'), 0)::bigint as invalidated,
            coalesce(sum(s.n) filter (where s.what = 'expired'), 0)::bigint as expired,
            coalesce(sum(s.n) filter (where s.what = 'dead'), 0)::bigint as dead,
            coalesce(sum(s.n) filter (where s.what = 'lapsed'), 0)::bigint as lapsed
       from tally_sum s where s.kind = 'counted/' || n.kind and s.queue = n.queue collate "default") s
), others as materialized (
  select k.kind from unnest(array['ticket', 'job', 'case', 'task']) as k (kind)
   where k.kind = 'task' or exists (
     select from queue q
      where q.kind = k.kind and is_there(q)
        and q.seq > coalesce((select max(n.seq) from named n where n.kind = k.kind), 0))
)
select n.kind, n.queue, c.delayed, c.ready, c.held, c.buried,
       s.added, s.settled, s.invalidated, s.expired, s.dead, s.lapsed,
       (select extract(epoch from clock_timestamp() - min(i.first_available_at))::double precision
          from item i where i.kind = n.kind and i.queue = n.queue and i.state = 'ready') as oldest_seconds
  from named n cross join lateral counts_of(n.kind, n.queue) c join counters s on s.kind = n.kind and s.queue = n.queue
union all
select o.kind, null, greatest(t.delayed - l.delayed, 0), greatest(t.ready - l.ready, 0), greatest(t.held - l.held, 0),
       greatest(t.buried - l.buried, 0), greatest(s.added - l.added, 0), greatest(s.settled - l.settled, 0),
       greatest(s.invalidated - l.invalidated, 0), greatest(s.expired - l.expired, 0), greatest(s.dead - l.dead, 0),
       greatest(s.lapsed - l.lapsed, 0), null
  from others o join counters s on s.kind = o.kind and s.queue = ''
 cross join lateral (
   select coalesce(sum(m.delayed), 0)::bigint as delayed, coalesce(sum(m.ready), 0)::bigint as ready,
          coalesce(sum(m.held), 0)::bigint as held, coalesce(sum(m.buried), 0)::bigint as buried,
          coalesce(sum(c.added), 0)::bigint as added, coalesce(sum(c.settled), 0)::bigint as settled,
          coalesce(sum(c.invalidated), 0)::bigint as invalidated, coalesce(sum(c.expired), 0)::bigint as expired,
          coalesce(sum(c.dead), 0)::bigint as dead, coalesce(sum(c.lapsed), 0)::bigint as lapsed
     from counters c left join lateral (
       select * from sample where sample.kind = c.kind and sample.queue = c.queue order by at desc limit 1) m on true
    where c.kind = o.kind and c.queue <> '') l
 cross join lateral (
   select coalesce(sum(m.delayed), 0)::bigint as delayed, coalesce(sum(m.ready), 0)::bigint as ready,
          coalesce(sum(m.held), 0)::bigint as held, coalesce(sum(m.buried), 0)::bigint as buried
     from (select * from sample where sample.kind = o.kind and sample.queue = '' order by at desc limit 1) m) t;

-- name: pending_hosts
-- not null: host, n, oldest_seconds
-- Where deliveries are pending, by the :lines oldest of each kind; the hosts with the most of them.
select p.host, count(*)::integer as n,
       extract(epoch from clock_timestamp() - min(p.created_at))::double precision as oldest_seconds
  from unnest(:kinds::text[]) as k (kind) cross join lateral (
    select coalesce(d.host, '') as host, d.created_at
      from delivery d where d.state = 'pending' and d.kind = k.kind order by d.seq limit :lines) p
 group by p.host order by 2 desc, 1 limit :limit;
