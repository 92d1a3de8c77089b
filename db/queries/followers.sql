-- What followers of the log read and keep (runtime/followers), and what of that operators see.

-- name: follow_log
-- Lines after number :after, at most :limit, and, as `late`, lines that have come into the gaps (:first, :last) of the
-- read before; a line that is both is returned twice. Each with the current state of its item. There is always a row,
-- without `position` if there is no line. Each item is looked up on its own: planned for any number of rows, a join
-- would read the whole table.
with late as materialized (
  select e.* from unnest(:first::bigint[], :last::bigint[]) as h (first, last)
   cross join lateral (select * from event e where e.id between h.first and h.last order by e.id limit :limit) e
), line as materialized (
  select * from event where id > :after::bigint order by id limit :limit
)
select m.oldest, m.now, m.epoch, e.id as position, e.late, e.seq, e.type, e.actor, e.at,
       shard_of(e.kind, e.item_id) as shard, i.*
  from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "oldest!", clock_timestamp() as "now!",
               current_epoch() as "epoch!") m
  left join (select true as late, * from late union all select false, * from line) e on true
  left join lateral (
    select {i.published},
           -- a job that is over at once has no workflow where its topic says so
           i.kind = 'job' and i.attempts < 2
             and (select q.workflow from queue q where q.kind = 'job' and q.name = i.queue) <> 'always' as optional
      from item i where e.version is not null and i.kind = e.kind and i.id = e.item_id limit 1) i on true
 order by e.id;

-- name: follow_callbacks
-- The same of what reviews have received: each line stands for its review.
with late as materialized (
  select c.* from unnest(:first::bigint[], :last::bigint[]) as h (first, last)
   cross join lateral (
     select arrival, review_id, received_at from review_callback c
      where c.arrival between h.first and h.last order by c.arrival limit :limit) c
), line as materialized (
  select arrival, review_id, received_at from review_callback
   where arrival > :after::bigint order by arrival limit :limit
)
select m.oldest, m.now, m.epoch, c.arrival as position, c.late, c.review_id, c.received_at,
       shard_of('review', c.review_id) as shard
  from (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "oldest!", clock_timestamp() as "now!",
               current_epoch() as "epoch!") m
  left join (select true as late, * from late union all select false, * from line) c on true
 order by c.arrival;

-- name: mark_gaps
-- A transaction that may still fill the gaps seen until now has a lower number than this one.
select pg_current_xact_id()::text::bigint as "xid!";

-- name: take_shards
-- Parts of the log that no one follows, or one who has been silent for 15 s; never those of a living one.
update log_shard
   set owner = :node, epoch = epoch + 1, seen_at = clock_timestamp()
 where shard in (select shard from log_shard
                  where owner is null or owner <> :node and seen_at < clock_timestamp() - interval '15 seconds'
                  order by shard limit :limit for update skip locked);

-- name: keep_shards
update log_shard set seen_at = clock_timestamp() where owner = :node returning *;

-- name: leave_shards
update log_shard set owner = null where owner = :node and shard = any (:shards::integer[]);

-- name: move_cursors
-- One that has lost its part since then moves nothing: it was stopped, and another has gone on.
update log_shard s
   set reviews = c.reviews, outcomes = c.outcomes, rest = c.rest, idle = c.idle, seen_at = clock_timestamp()
  from unnest(:shards::integer[], :epochs::bigint[], :reviews::bigint[],
              :outcomes::bigint[], :rest::bigint[], :idle::bigint[])
         as c (shard, epoch, reviews, outcomes, rest, idle)
 where s.shard = c.shard and s.owner = :node and s.epoch = c.epoch
returning s.shard;

-- name: count_followers
select count(*)::integer as "n!" from node where follows and seen_at > clock_timestamp() - interval '15 seconds';

-- name: take_unpublished
-- Marked items of :shards that are to be published without a log line, the longest marked first. Times in microseconds.
select m.marked, m.shard, clock_timestamp() as "now!", current_epoch() as "epoch!",
       m.kind as marked_kind, m.item_id, d.*
  from (select u.kind, u.item_id, (extract(epoch from u.at) * 1000000)::bigint as "marked!",
               shard_of(u.kind, u.item_id) as "shard!"
          from unpublished u
         where u.at > timestamptz 'epoch' + :after::bigint * interval '1 microsecond'
           and u.at <= (select clock_timestamp())
           and shard_of(u.kind, u.item_id) = any (:shards::integer[])
         order by u.at limit :limit) m
  left join lateral (select * from driven d where d.kind = m.kind and d.id = m.item_id limit 1) d on true
 order by m.marked;

-- name: put_off
-- Temporal refuses it: to be tried again, and nothing waits for it meanwhile.
insert into unpublished (kind, item_id, at) values (:kind, :id, clock_timestamp() + make_interval(secs => :seconds))
on conflict (kind, item_id) do update set at = excluded.at;

-- name: published
-- What was marked again since then stays.
delete from unpublished u using unnest(:kinds::text[], :ids::text[], :marked::bigint[]) as s (kind, id, marked)
 where u.kind = s.kind and u.item_id = s.id and u.at <= timestamptz 'epoch' + s.marked * interval '1 microsecond';

-- name: waiting_items
select coalesce(sum(n), 0)::bigint as "n!" from tally where what = 'ready' and kind in ('ticket', 'job', 'case');

-- name: is_followed
select exists (select from log_shard
                where owner is not null and seen_at > clock_timestamp() - interval '15 seconds') as "followed!";

-- name: publishing_lag
-- Lines behind the slowest lane, of which the first has not been published: counted up to 10,000 and from there on by
-- their numbers, and the age of the oldest.
with cursor as (
  select min(reviews) as reviews, min(least(outcomes, rest, idle)) as log from log_shard
), behind as (
  select e.at from cursor c cross join lateral (
    select e.at from event e where e.id > c.log and e.version is not null order by e.id limit 10000) e
  union all
  select r.received_at from cursor c cross join lateral (
    select r.received_at from review_callback r where r.arrival > c.reviews order by r.arrival limit 10000) r
  union all
  select u.at from (select at from unpublished limit 10000) u
)
select case when count(b.at) < 10000 then count(b.at)
            else greatest(count(b.at),
                          (select coalesce(max(id), 0) from event) - (select log from cursor)) end as "waiting!",
       coalesce(extract(epoch from clock_timestamp() - min(b.at)), 0)::double precision as "oldest_seconds!"
  from behind b;
