-- Between processes: nodes, clocks, notices.

-- name: tick_item :moves
-- When its workflow's durable timer fires. A parked item waits for its minute: its failure is published, and would make
-- its workflow come again at once.
select * from tick_items(:kind, array(
  select :id::text where not exists (
    select from parked where kind = :kind and item_id = :id and until > clock_timestamp())));

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
-- Items whose due transition fails, and, with :rules, tickets whose rules ran out of time.
select ((select count(*) from parked where until > clock_timestamp())
      + (select count(*) from item
          where :rules and rules_due_at > clock_timestamp() and ended_at is null))::integer as "n!";

-- name: beat
insert into node (id, url, role, follows) values (:id, :url?, :role, :follows)
on conflict (id) do update set seen_at = clock_timestamp(), url = excluded.url, follows = excluded.follows;

-- name: use_store
-- Written when it changes only.
update node set store = :store where id = :node and store is distinct from :store;

-- name: leave
delete from node where id = :id;

-- name: forget_nodes
delete from node where seen_at < clock_timestamp() - interval '1 hour';

-- name: live_nodes
select id, url, role, seen_at, store from node where seen_at > clock_timestamp() - interval '15 seconds' order by id;

-- name: notices
-- Returns some notices twice: numbers are assigned before the commit, so a reader goes back by :seconds and drops what
-- it has seen.
select seq, at, kind, item_id, queue, person, type, data from notice
 where at > (select clock_timestamp() - make_interval(secs => :seconds::double precision)) order by seq;

-- name: notices_after
-- not null: seq, at, kind, item_id, queue, person, type, data
-- To a person :person? or of a ticket queue :queue?, behind the one a reader saw last; also those with a lower number
-- whose transaction was under way when that one was written: they may have come after it.
select n.seq, n.at, n.kind, n.item_id, n.queue, n.person, n.type, n.data
  from notice n left join notice seen on seen.seq = :seq
 where (n.seq > :seq or n.seq < :seq and not pg_visible_in_snapshot(n.xid, seen.snap))
   and (:person?::text is null or n.person = :person?)
   and (:queue?::text is null or n.kind = 'ticket' and n.queue = :queue?)
 order by n.seq limit 1000;

-- name: last_notice
select coalesce(max(seq), 0)::bigint as "seq!" from notice;

-- name: forget_notices
delete from notice where at < (select clock_timestamp()) - interval '10 minutes';

-- name: forget_juror_days
-- Limits are of the day that it is in UTC; yesterday's are left to calls that began then.
delete from juror_day where ctid = any (array(
  select ctid from juror_day where day < (select (clock_timestamp() at time zone 'UTC')::date - 1) limit 1000));

-- name: forget_commands
-- No attempt to carry one out goes on for that long.
delete from operator_command where ctid = any (array(
  select ctid from operator_command where at < (select clock_timestamp()) - interval '30 days' limit 1000));

-- name: compact_tally
-- Adds up the lines, one process at a time. Items handed out or settled in the last minute stay as a line for each
-- second; after that, handed out items are added to `granted`. Queues that have lines have changed: they are to be
-- sampled. Items added, ended and taken back are also counted, by queue and for all of the kind (queue ''), as kind
-- `counted/…`: counters of GET /metrics, which never fall, whatever retention clears. They add no cost to a commit,
-- whose lines hold them already.
with leader as materialized (select pg_try_advisory_xact_lock(7236001) as mine),
gone as (
  delete from tally_line t using leader
   where leader.mine and (t.was is not null or t.at is null or t.at <= now() - interval '1 minute')
  returning t.kind, t.queue, t.what, t.was, t.n, t.at, t.at > now() - interval '1 minute' as recent),
kept as (
  insert into tally_line (kind, queue, what, n, at)
  select kind, queue, what, sum(n), at from gone where recent group by kind, queue, what, at having sum(n) <> 0),
due as (
  insert into sample_due (kind, queue)
  select distinct kind, queue from gone where kind in ('ticket', 'job', 'case', 'task')
  on conflict (kind, queue) do nothing),
-- equal lines are added up first: there are thousands, of few sorts
sorts as materialized (
  select kind, queue, what, was, recent, at is null as timeless, n > 0 as more, sum(n) as n
    from gone group by 1, 2, 3, 4, 5, 6, 7),
counted as (
  select 'counted/' || sorts.kind as kind, sorts.queue, part.what, sum(part.n) as n
    from sorts cross join lateral (values
      -- a line that stays for its second, which has a time, is not one that came in
      (was is null and timeless and more and what in ('delayed', 'ready', 'held', 'buried'), 'added', n),
      (was is not null and what in ('settled', 'invalidated', 'expired', 'dead'), what, n),
      (what = 'lease_expired', 'lapsed', n)) as part (counts, what, n)
   where part.counts and kind in ('ticket', 'job', 'case', 'task') group by sorts.kind, sorts.queue, part.what)
insert into tally_sum as s (kind, queue, what, n)
select kind, queue, part.what, sum(part.n)
  from sorts cross join lateral (values
    (recent is not true, what, n), (was is not null, was, -n),
    (what = 'held' and recent = false, 'granted', n)) as part (counts, what, n)
 where part.counts group by kind, queue, part.what having sum(part.n) <> 0
union all
select kind, queue, what, n from counted
union all
select kind, '', what, sum(n) from counted group by kind, what
on conflict (kind, queue, what) do update set n = s.n + excluded.n;

-- name: command_once
insert into operator_command (key, kind, item_id) values (:key, :kind, :id) on conflict do nothing returning key;

-- name: read_item
-- `parked_until`: nothing is done for it before that, whatever its wake time.
select i.*, p.until as parked_until, clock_timestamp() as "now!", current_epoch() as "epoch!"
  from item i left join parked p on p.kind = i.kind and p.item_id = i.id and p.until > clock_timestamp()
 where i.kind = :kind and i.id = :id;

-- name: notify
-- Outside of any transaction of ours: inside one, NOTIFY takes a lock of the whole server at commit.
select pg_notify('docket', :payload);
