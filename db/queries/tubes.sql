-- What only beanstalkd's protocol asks of jobs: its counts, the life of a tube, and what becomes of
-- reservations whose connection is gone (S3.8). Tubes are topics.

-- name: return_jobs
-- moves
-- Reserved jobs back to where they were, because the connection that held them is gone. Nobody released
-- them, so delay and priority stay and it doesn't count as a release. $3: the answer never reached the
-- client, so it wasn't an attempt either.
with held as (
  select i.kind, i.id, t.now, i.attempts - case when $3 then 1 else 0 end as attempts,
         case when not $3 and i.attempts >= q.max_attempts then 'buried' else 'ready' end as state
    from unnest($1::text[], $2::text[]) as s (id, token)
    join item i on i.kind = 'job' and i.id = s.id and i.state = 'held' and i.lease_id = s.token
    join queue q on q.kind = i.kind and q.name = i.queue
   cross join (select clock_timestamp() as now) t
   where i.expires_at > t.now
   order by i.id for update of i
)
update item i
   set state = h.state, attempts = h.attempts, buried_seq = case when h.state = 'buried' then nextval('item_buried') end,
       lease_end = 'released', lease_id = null, holder = null, granted_at = null, expires_at = null, wake_at = null,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = case when h.state = 'buried' then 'buried' else 'released' end, last_actor = i.holder, updated_at = h.now,
       last_data = json_build_object('reason', case when $3 then 'undelivered' else 'disconnected' end)
  from held h
 where i.kind = h.kind and i.id = h.id
returning i.*;

-- name: job_stats
-- not null: lease_seconds, age, time_left, timeouts, releases, buries, kicks
-- By number, as beanstalkd's stats-job has it; times in seconds. A job is buried or reserved again far
-- less often than it is looked at, so its history is counted, not kept.
select i.seq, i.queue, i.state, i.priority, i.attempts, i.delay_seconds, coalesce(i.lease_seconds, 0) as lease_seconds,
       extract(epoch from t.now - i.created_at)::double precision as age,
       coalesce(extract(epoch from case i.state when 'held' then i.expires_at when 'delayed' then i.available_at end - t.now),
         0)::double precision as time_left,
       n.timeouts, n.releases, n.buries, n.kicks
  from item i cross join (select clock_timestamp() as now) t
 cross join lateral (
   select count(*) filter (where e.type = 'reclaimed' or (e.type = 'buried' and e.data ->> 'reason' = 'attempts'))::integer as timeouts,
          count(*) filter (where e.type = 'released' and e.data ->> 'reason' is null)::integer as releases,
          count(*) filter (where e.type = 'buried')::integer as buries,
          count(*) filter (where e.type = 'kicked')::integer as kicks
     from event e where e.kind = 'job' and e.item_id = i.id) n
 where i.kind = 'job' and i.seq = $1 and i.ended_at is null;

-- name: topic_counts
-- not null: n
-- Of one topic, or of each ($1 null): how many jobs per state, and how often a reservation ran out.
select queue, what, sum(n)::bigint as n from tally
 where kind = 'job' and ($1::text is null or queue = $1)
 group by queue, what having sum(n) <> 0;

-- name: urgent_jobs
-- not null: n
-- Ready jobs with a priority below 1024, as beanstalkd counts them, of one topic or of all.
select count(*)::integer as n from item
 where kind = 'job' and ($1::text is null or queue = $1) and state = 'ready' and requires_key = '' and rank < 1024;

-- name: topic_pause
-- not null: left
-- Seconds for which a topic was paused and that are left of it; no row: it isn't.
select pause_seconds as seconds, extract(epoch from paused_until - clock_timestamp())::double precision as left
  from queue where kind = 'job' and name = $1 and paused_until > clock_timestamp();

-- name: open_tube
-- not null: any
-- Whether a topic has open jobs. Without any, a tube that nobody uses or watches had ceased to be, and
-- its pause with it: the new one of that name isn't paused.
with jobs as materialized (
  select coalesce(sum(n), 0) > 0 as any from tally
   where kind = 'job' and queue = $1 and what in ('ready', 'delayed', 'held', 'buried')
), ended as (
  update queue set paused_until = null, pause_seconds = 0 from jobs
   where kind = 'job' and name = $1 and paused_until is not null and not jobs.any
)
select jobs.any from jobs;
