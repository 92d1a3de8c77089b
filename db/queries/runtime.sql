-- The link to Temporal and between processes: outbox, nodes, clocks, notices.

-- name: tick
-- moves
select * from tick(:limit);

-- name: tick_item
-- moves
select * from tick_item(:kind, :id);

-- name: tick_items
-- moves
select * from tick_items(:kind, :ids);

-- name: refresh_statistics
select * from refresh_statistics();

-- name: next_due
-- The earliest wake time, parked items aside, as seconds from now (negative: overdue).
select extract(epoch from min(wake_at) - clock_timestamp())::double precision as seconds from (
  select i.wake_at from item i
   where i.wake_at is not null
     and not exists (select 1 from parked p where p.kind = i.kind and p.item_id = i.id and p.until > clock_timestamp())
   order by i.wake_at limit 1) s;

-- name: unpark
delete from parked where until < clock_timestamp() - interval '10 minutes';

-- name: parked_count
-- not null: n
select count(*)::integer as n from parked where until > clock_timestamp();

-- name: beat
insert into node (id, url, role) values (:id, :url?, :role)
on conflict (id) do update set seen_at = clock_timestamp(), url = excluded.url;

-- name: leave
delete from node where id = :id;

-- name: forget_nodes
delete from node where seen_at < clock_timestamp() - interval '1 hour';

-- name: live_nodes
select id, url, seen_at from node where seen_at > clock_timestamp() - interval '15 seconds' order by id;

-- name: acknowledge
delete from outbox where version = any (:versions::bigint[]);

-- name: adopt_outbox
-- Rows of processes that have been silent for 15 s become this process's own; never those of a
-- living one, however busy it is.
with recursive holder (node) as (
  -- the few nodes that have rows, read by steps through the index and not row by row
  (select node from outbox order by node limit 1)
  union all
  select (select o.node from outbox o where o.node > holder.node order by o.node limit 1)
    from holder where holder.node is not null
), silent as (
  select holder.node from holder
   where holder.node is not null
     and not exists (select 1 from node n where n.id = holder.node and n.seen_at > clock_timestamp() - interval '15 seconds')
), orphan as (
  select o.version, i.id is null as gone from outbox o left join told i on i.kind = o.kind and i.id = o.item_id
   where o.node = any (array(select node from silent))
   order by o.version limit :limit for update of o skip locked
), forgotten as (
  -- delete outbox rows whose item is gone
  delete from outbox o using orphan where orphan.gone and o.version = orphan.version
), adopted as (
  update outbox o set node = :node from orphan
   where not orphan.gone and o.version = orphan.version returning o.version, o.kind, o.item_id
)
select a.version as outbox_version, i.kind, i.id, i.queue, i.state, i.version, i.wake_at, i.holder, i.telling,
       i.event_seq, i.last_event, i.last_actor, i.updated_at, i.inviting
  from adopted a join told i on i.kind = a.kind and i.id = a.item_id;

-- name: own_outbox
-- What this process put aside when it had too much in memory, or doesn't know of; older than the
-- moment in which an acknowledgement may be on its way.
select o.version as outbox_version, i.kind, i.id, i.queue, i.state, i.version, i.wake_at, i.holder, i.telling,
       i.event_seq, i.last_event, i.last_actor, i.updated_at, i.inviting
  from outbox o join told i on i.kind = o.kind and i.id = o.item_id
 where o.node = :node and o.version > :after and o.at < clock_timestamp() - interval '5 seconds'
 order by o.version limit :limit;

-- name: outbox_lag
-- not null: waiting, oldest_seconds
-- How many there are, counted up to 10,000 and from there on as the table's statistics have it: counting a million takes a
-- tenth of a second, at every look. Versions are drawn in order, so the first row is the oldest but for moments.
select case when s.n < 10000 then s.n else greatest(s.n, pg_stat_get_live_tuples('outbox'::regclass)) end as waiting,
       coalesce((select extract(epoch from clock_timestamp() - at) from outbox order by version limit 1), 0)::double precision as oldest_seconds
  from (select count(*) as n from (select from outbox limit 10000) o) s;

-- name: notices
-- Twice-read on purpose: numbers are given before the commit, so a reader goes back 15 s and drops
-- what it has seen.
select seq, at, kind, item_id, queue, person, type, data from notice
 where at > (select clock_timestamp()) - interval '15 seconds' order by seq;

-- name: notices_after
-- not null: seq, at, kind, item_id, queue, person, type, data
-- To a person :person? or of a ticket queue :queue?, behind the one a reader saw last; also those with a lower number
-- whose transaction was under way when that one was written: they may have come after it.
select n.seq, n.at, n.kind, n.item_id, n.queue, n.person, n.type, n.data
  from notice n left join notice seen on seen.seq = :seq
 where (n.seq > :seq or n.seq < :seq and not pg_visible_in_snapshot(n.xid, seen.snap))
   and (:person?::text is null or n.person = :person?) and (:queue?::text is null or n.kind = 'ticket' and n.queue = :queue?)
 order by n.seq limit 1000;

-- name: last_notice
-- not null: seq
select coalesce(max(seq), 0)::bigint as seq from notice;

-- name: forget_notices
delete from notice where at < (select clock_timestamp()) - interval '10 minutes';

-- name: compact_tally
-- Sums up the signed rows where there is more than one, one process at a time. Those that keep their time are summed up by
-- it, until a minute has passed.
with leader as materialized (select pg_try_advisory_xact_lock(7236001) as mine),
heap as (
  select kind, queue, what, case when at > now() - interval '1 minute' then at end as at
    from tally group by 1, 2, 3, 4 having count(*) > 1),
gone as (
  delete from tally t using leader, heap
   where leader.mine and (t.kind, t.queue, t.what) = (heap.kind, heap.queue, heap.what)
     and heap.at is not distinct from case when t.at > now() - interval '1 minute' then t.at end
  returning t.kind, t.queue, t.what, t.n, heap.at)
insert into tally (kind, queue, what, n, at)
select kind, queue, what, sum(n), at from gone group by kind, queue, what, at having sum(n) <> 0;

-- name: command_once
insert into operator_command (key, kind, item_id) values (:key, :kind, :id) on conflict do nothing returning key;

-- name: read_item
-- not null: now
select i.*, clock_timestamp() as now from item i where kind = :kind and id = :id;

-- name: notify
-- Outside of any transaction of ours: inside one, NOTIFY takes a lock of the whole server at commit.
select pg_notify('docket', :payload);
