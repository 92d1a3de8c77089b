-- What only jobs need beside the core (S3): the article's commands and beanstalkd's.

-- name: pop_jobs
-- moves
-- Only what is handed out and what is published: reading a row costs more than anything else here.
select kind, id, queue, seq, state, version, wake_at, holder, telling, inviting, event_seq, last_event, last_actor, updated_at,
       settled_token, body, lease_id, expires_at, attempts, lease_seconds
  from pop_jobs(:topics, :tokens, :holders, :maxBytes?);

-- name: pop_to_push
-- moves
-- For the topic's push target: at most :limit jobs with it at once over all processes, so the count is
-- taken under a lock of the topic.
select * from pop_to_push(:topic, :tokens, :limit);

-- name: reserve_job
-- moves
-- One job by its number, whichever open state it is in but reserved (beanstalkd's reserve-job).
update item i
   set state = 'held', lease_id = :token, holder = :holder, granted_at = t.now, buried_seq = null,
       expires_at = t.now + make_interval(secs => i.lease_seconds),
       wake_at = t.now + make_interval(secs => i.lease_seconds),
       lease_follows = null, lease_end = null, attempts = i.attempts + 1,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'reserved', last_actor = :holder, last_data = json_build_object('attempt', i.attempts + 1), updated_at = t.now
  from (select clock_timestamp() as now) t
 where i.kind = 'job' and i.seq = :number and i.state in ('ready', 'delayed', 'buried')
   and (:maxBytes?::integer is null or i.body_bytes <= :maxBytes)
returning i.*;

-- name: finish_jobs
-- moves
select kind, id, queue, state, version, wake_at, holder, telling, inviting, event_seq, last_event, last_actor, updated_at, settled_token
  from finish_jobs(:ids, :tokens, :actors);

-- name: delete_jobs
-- moves
-- In any open state; :alsoReserved false: not while it is reserved (beanstalkd).
update item i
   set state = 'invalidated', end_reason = 'deleted', buried_seq = null,
       ended_at = t.now, ended_by = s.actor, wake_at = null,
       lease_end = case when i.state = 'held' then 'closed' else i.lease_end end,
       lease_id = null, holder = null, granted_at = null, expires_at = null,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'deleted', last_actor = s.actor, last_data = null, updated_at = t.now
  from unnest(:ids::text[], :actors::text[], :alsoReserved::boolean[]) as s (id, actor, also_reserved), (select clock_timestamp() as now) t
 where i.kind = 'job' and i.id = s.id and i.ended_at is null and (s.also_reserved or i.state <> 'held')
returning i.kind, i.id, i.queue, i.state, i.version, i.wake_at, i.holder, i.telling, i.inviting, i.event_seq, i.last_event,
          i.last_actor, i.updated_at, i.settled_token;

-- name: release_jobs
-- moves
-- Gives reserved jobs back after their delays (seconds), with another priority where one is given. Those whose topic
-- allows no further attempt are buried instead, in the order of the call.
with given as materialized (
  select i.kind, i.id, s.no, s.delay_seconds, s.priority, t.now, t.now + make_interval(secs => s.delay_seconds) as back_at,
         case when i.attempts >= q.max_attempts then 'buried' when s.delay_seconds > 0 then 'delayed' else 'ready' end as state
    from unnest(:ids::text[], :tokens::text[], :delays::double precision[], :priorities::bigint[]) with ordinality
           as s (id, token, delay_seconds, priority, no)
    join item i on i.kind = 'job' and i.id = s.id and i.state = 'held' and i.lease_id = s.token
    join queue q on q.kind = i.kind and q.name = i.queue
   cross join (select clock_timestamp() as now) t
   where i.expires_at > t.now
   order by i.id for update of i
), numbered as materialized (
  select g.*, case when g.state = 'buried' then nextval('item_buried') end as buried_seq
    from (select * from given order by no) g
)
update item i
   set state = g.state, priority = coalesce(g.priority, i.priority), rank = coalesce(g.priority, i.priority),
       delay_seconds = g.delay_seconds, available_at = case when g.state = 'delayed' then g.back_at else i.available_at end,
       buried_seq = g.buried_seq,
       lease_end = 'released', lease_id = null, holder = null, granted_at = null, expires_at = null,
       wake_at = case when g.state = 'delayed' then g.back_at end,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = case when g.state = 'buried' then 'buried' else 'released' end, last_actor = i.holder, updated_at = g.now,
       last_data = json_strip_nulls(json_build_object('delaySeconds', nullif(g.delay_seconds, 0), 'priority', g.priority))
  from numbered g
 where i.kind = g.kind and i.id = g.id
returning i.*;

-- name: bury_jobs
-- moves
-- Puts reserved jobs aside until they are kicked, in the order of the call, with another priority where one is given.
with given as materialized (
  select i.kind, i.id, s.no, s.priority, t.now
    from unnest(:ids::text[], :tokens::text[], :priorities::bigint[]) with ordinality as s (id, token, priority, no)
    join item i on i.kind = 'job' and i.id = s.id and i.state = 'held' and i.lease_id = s.token
   cross join (select clock_timestamp() as now) t
   where i.expires_at > t.now
   order by i.id for update of i
), numbered as materialized (
  select g.*, nextval('item_buried') as buried_seq from (select * from given order by no) g
)
update item i
   set state = 'buried', buried_seq = g.buried_seq,
       priority = coalesce(g.priority, i.priority), rank = coalesce(g.priority, i.priority),
       lease_end = 'released', lease_id = null, holder = null, granted_at = null, expires_at = null, wake_at = null,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'buried', last_actor = i.holder, last_data = json_build_object('reason', 'asked'), updated_at = g.now
  from numbered g
 where i.kind = g.kind and i.id = g.id
returning i.*;

-- name: return_jobs
-- moves
-- Makes reserved jobs ready, because the connection that held them is gone. Delay and priority stay, and it does not
-- count as a release. :undelivered: the answer never reached the client, so it was no attempt either.
with held as (
  select i.kind, i.id, t.now, i.attempts - case when :undelivered then 1 else 0 end as attempts,
         case when not :undelivered and i.attempts >= q.max_attempts then 'buried' else 'ready' end as state
    from unnest(:ids::text[], :tokens::text[]) as s (id, token)
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
       last_data = json_build_object('reason', case when :undelivered then 'undelivered' else 'disconnected' end)
  from held h
 where i.kind = h.kind and i.id = h.id
returning i.*;

-- name: kick_topic
-- moves
-- not null: kicked_from
-- If any are buried, only those, the longest buried first; else delayed ones, the soonest first, :limit at most. A
-- statement that continues an earlier one names its state and time (:state, :since): else a job that is buried again
-- meanwhile would be kicked without end.
with buried as materialized (
  select i.id, i.state from item i
   where i.kind = 'job' and i.queue = :topic and i.state = 'buried'
     and (:state?::text is null or :state = 'buried') and (:since?::timestamptz is null or i.updated_at <= :since)
   order by i.buried_seq limit :limit::bigint for update
), delayed as materialized (
  select i.id, i.state from item i
   where i.kind = 'job' and i.queue = :topic and i.state = 'delayed' and not exists (select 1 from buried)
     and (:state::text is null or :state = 'delayed') and (:since::timestamptz is null or i.updated_at <= :since)
   order by i.available_at, i.seq limit :limit::bigint for update
)
update item i
   set state = 'ready', buried_seq = null, wake_at = null, available_at = t.now,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'kicked', last_actor = :actor, last_data = null, updated_at = t.now
  from (select * from buried union all select * from delayed) k, (select clock_timestamp() as now) t
 where i.kind = 'job' and i.id = k.id and i.state in ('buried', 'delayed')
returning i.*, k.state as kicked_from;

-- name: kick_job
-- moves
update item i
   set state = 'ready', buried_seq = null, wake_at = null, available_at = t.now,
       version = nextval('item_version'), event_seq = i.event_seq + 1,
       last_event = 'kicked', last_actor = :actor, last_data = null, updated_at = t.now
  from (select clock_timestamp() as now) t
 where i.kind = 'job' and i.id = :id and i.state in ('buried', 'delayed')
returning i.*;

-- name: jobs_by_number
select * from item where kind = 'job' and seq = any (:numbers::bigint[]);

-- name: peek_ready
select * from item where kind = 'job' and queue = :topic and state = 'ready' and requires_key = ''
 order by rank, seq limit 1;

-- name: peek_delayed
select * from item where kind = 'job' and queue = :topic and state = 'delayed' order by available_at, seq limit 1;

-- name: peek_buried
select * from item where kind = 'job' and queue = :topic and state = 'buried' order by buried_seq limit 1;

-- name: job_stats
-- not null: lease_seconds, age, time_left, timeouts, releases, buries, kicks
-- For beanstalkd's stats-job; times in seconds. What happened to a job is counted in its log when it is asked for: few
-- jobs have a long one.
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
 where i.kind = 'job' and i.seq = :number and i.ended_at is null;
