-- What only jobs need beside the core (S3): the article's commands and beanstalkd's.

-- name: pop_jobs
-- moves
select * from pop_jobs($1, $2, $3, $4);

-- name: reserve_job
-- moves
-- One job by its number, whichever open state it is in but reserved (beanstalkd's reserve-job).
update item i
   set state = 'held', lease_id = $2, holder = $3, granted_at = t.now, buried_seq = null,
       expires_at = t.now + make_interval(secs => i.lease_seconds),
       wake_at = t.now + make_interval(secs => i.lease_seconds),
       lease_follows = null, lease_end = null, attempts = i.attempts + 1,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'reserved', last_actor = $3, last_data = json_build_object('attempt', i.attempts + 1), updated_at = t.now
  from (select clock_timestamp() as now) t
 where i.kind = 'job' and i.seq = $1 and i.state in ('ready', 'delayed', 'buried')
   and ($4::integer is null or i.body_bytes <= $4)
returning i.*;

-- name: finish_jobs
-- moves
-- With a token: only that reservation, while it is live. Without one, as in the article: in whatever open
-- state the job is, ending whatever reservation is current (S3.1, S3.3). $3: who says so.
update item i
   set state = 'settled', result = 'null', settled_token = s.token, buried_seq = null,
       ended_at = t.now, ended_by = coalesce(i.holder, s.actor), wake_at = null,
       lease_end = case when i.state = 'held' then 'settled' else i.lease_end end,
       lease_id = null, holder = null, granted_at = null, expires_at = null,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'finished', last_actor = coalesce(i.holder, s.actor), last_data = null, updated_at = t.now
  from unnest($1::text[], $2::text[], $3::text[]) as s (id, token, actor), (select clock_timestamp() as now) t
 where i.kind = 'job' and i.id = s.id and i.ended_at is null
   and (s.token is null or (i.state = 'held' and i.lease_id = s.token and i.expires_at > (select clock_timestamp())))
returning i.*;

-- name: delete_jobs
-- moves
-- In any open state; $3 false: not while somebody has reserved it (beanstalkd).
update item i
   set state = 'invalidated', end_reason = 'deleted', buried_seq = null,
       ended_at = t.now, ended_by = s.actor, wake_at = null,
       lease_end = case when i.state = 'held' then 'closed' else i.lease_end end,
       lease_id = null, holder = null, granted_at = null, expires_at = null,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'deleted', last_actor = s.actor, last_data = null, updated_at = t.now
  from unnest($1::text[], $2::text[]) as s (id, actor), (select clock_timestamp() as now) t
 where i.kind = 'job' and i.id = s.id and i.ended_at is null and ($3::boolean or i.state <> 'held')
returning i.*;

-- name: release_jobs
-- moves
-- Gives reserved jobs back, $3 seconds later and with another priority if $4 says so. One whose topic
-- allows no further attempt is buried instead.
with given as (
  select i.kind, i.id, t.now, t.now + make_interval(secs => $3) as back_at,
         case when i.attempts >= q.max_attempts then 'buried' when $3 > 0 then 'delayed' else 'ready' end as state
    from unnest($1::text[], $2::text[]) as s (id, token)
    join item i on i.kind = 'job' and i.id = s.id and i.state = 'held' and i.lease_id = s.token
    join queue q on q.kind = i.kind and q.name = i.queue
   cross join (select clock_timestamp() as now) t
   where i.expires_at > t.now
   order by i.id for update of i
)
update item i
   set state = g.state, priority = coalesce($4::bigint, i.priority), rank = coalesce($4::bigint, i.priority),
       delay_seconds = $3, available_at = case when g.state = 'delayed' then g.back_at else i.available_at end,
       buried_seq = case when g.state = 'buried' then nextval('item_buried') end,
       lease_end = 'released', lease_id = null, holder = null, granted_at = null, expires_at = null,
       wake_at = case when g.state = 'delayed' then g.back_at end,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = case when g.state = 'buried' then 'buried' else 'released' end, last_actor = i.holder, updated_at = g.now,
       last_data = json_strip_nulls(json_build_object('delaySeconds', nullif($3, 0), 'priority', $4::bigint))
  from given g
 where i.kind = g.kind and i.id = g.id
returning i.*;

-- name: bury_job
-- moves
-- Puts a reserved job aside until somebody kicks it. $3 priority or null.
update item i
   set state = 'buried', buried_seq = nextval('item_buried'),
       priority = coalesce($3::bigint, i.priority), rank = coalesce($3::bigint, i.priority),
       lease_end = 'released', lease_id = null, holder = null, granted_at = null, expires_at = null, wake_at = null,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'buried', last_actor = i.holder, last_data = json_build_object('reason', 'asked'), updated_at = clock_timestamp()
 where i.kind = 'job' and i.id = $1 and i.state = 'held' and i.lease_id = $2 and i.expires_at > (select clock_timestamp())
returning i.*;

-- name: kick_topic
-- moves
-- not null: kicked_from
-- If any are buried, only those, the longest buried first; else delayed ones, the soonest first. Callers ask
-- for a bounded number ($2) at a time. What goes on with an earlier statement names its state ($4) and time
-- ($5): a job that is buried again meanwhile would be kicked without end.
with buried as materialized (
  select i.id, i.state from item i
   where i.kind = 'job' and i.queue = $1 and i.state = 'buried'
     and ($4::text is null or $4 = 'buried') and ($5::timestamptz is null or i.updated_at <= $5)
   order by i.buried_seq limit $2::bigint for update
), delayed as materialized (
  select i.id, i.state from item i
   where i.kind = 'job' and i.queue = $1 and i.state = 'delayed' and not exists (select 1 from buried)
     and ($4::text is null or $4 = 'delayed') and ($5::timestamptz is null or i.updated_at <= $5)
   order by i.available_at, i.seq limit $2::bigint for update
)
update item i
   set state = 'ready', buried_seq = null, wake_at = null, available_at = t.now,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'kicked', last_actor = $3, last_data = null, updated_at = t.now
  from (select * from buried union all select * from delayed) k, (select clock_timestamp() as now) t
 where i.kind = 'job' and i.id = k.id and i.state in ('buried', 'delayed')
returning i.*, k.state as kicked_from;

-- name: kick_job
-- moves
update item i
   set state = 'ready', buried_seq = null, wake_at = null, available_at = t.now,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'kicked', last_actor = $2, last_data = null, updated_at = t.now
  from (select clock_timestamp() as now) t
 where i.kind = 'job' and i.id = $1 and i.state in ('buried', 'delayed')
returning i.*;

-- name: job_by_number
select * from item where kind = 'job' and seq = $1;

-- name: peek_ready
select * from item where kind = 'job' and queue = $1 and state = 'ready' and requires_key = ''
 order by rank, seq limit 1;

-- name: peek_delayed
select * from item where kind = 'job' and queue = $1 and state = 'delayed' order by available_at, seq limit 1;

-- name: peek_buried
select * from item where kind = 'job' and queue = $1 and state = 'buried' order by buried_seq limit 1;

-- name: put_topic
insert into queue (kind, name, max_attempts, paused, push) values ('job', $1, $2, $3, $4)
on conflict (kind, name) do update
   set max_attempts = excluded.max_attempts, paused = excluded.paused, push = excluded.push,
       settings_version = nextval('item_version'), updated_at = clock_timestamp(), deleted_at = null
returning *;

-- name: pause_topic
-- For $2 seconds; 0 ends a pause.
update queue
   set pause_seconds = $2::double precision,
       paused_until = case when $2::double precision > 0 then clock_timestamp() + make_interval(secs => $2) end
 where kind = 'job' and name = $1 returning *;

-- name: pop_to_push
-- moves
-- For the topic's push target: at most $3 jobs with it at once over all processes, so the count is
-- taken under a lock of the topic.
select * from pop_to_push($1, $2, $3);

-- name: push_topics
-- not null: push
select name, push from queue where kind = 'job' and push is not null;

-- name: put_schedule
insert into schedule (topic, name, every_seconds, cron, timezone, body, ttr, priority)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (topic, name) do update
   set every_seconds = excluded.every_seconds, cron = excluded.cron, timezone = excluded.timezone,
       body = excluded.body, ttr = excluded.ttr, priority = excluded.priority, updated_at = clock_timestamp()
returning *;

-- name: get_schedule
select * from schedule where topic = $1 and name = $2;

-- name: list_schedules
-- bytes: body
select * from schedule where topic = $1 and ($2::bigint is null or seq < $2) order by seq desc limit $3;

-- name: delete_schedule
delete from schedule where topic = $1 and name = $2 returning name;
