-- What only jobs need beside the core (S3): the article's commands and beanstalkd's.
-- Found rows are joined by their own kind: with the literal 'job', a planner whose statistics know of no job would read
-- all of them for a few.

-- name: pop_jobs :moves
-- Only what is handed out and what is published: reading a row costs more than anything else here. What was due and is
-- done now has no lease.
select {published}, seq, settled_token, body, available_at, lease_id, expires_at, attempts, lease_seconds
  from pop_jobs(:topics, :tokens, :holders, :maxBytes?, :floor?);

-- name: last_item_number
select last_value as "number!" from item_seq_seq;

-- name: writers_of_items
-- Transactions that may have drawn an item's number and not yet committed it: they have locked the table before.
-- Transaction ids, as for gaps in the log (mark_gaps), do not help: an item's number is drawn before its transaction
-- has one.
select coalesce(array_agg(distinct virtualtransaction), '{}') as "writers!" from pg_locks
 where locktype = 'relation' and relation = 'item'::regclass and mode = 'RowExclusiveLock' and pid <> pg_backend_pid()
   and database = (select oid from pg_database where datname = current_database());

-- name: floor_of_pops
-- The number, :upTo at most, up to which no job of a topic is ready as it was added, with this priority. It skips the
-- dead index entries, which spares pops that work; `ms` is how long that takes by the server's clock, because a
-- response can be late for other reasons, too.
select coalesce(min(f.seq) - 1, :upTo::bigint) as "floor!",
       (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::double precision as "ms!"
  from (select i.seq from item i
         where i.kind = :kind and i.queue = :topic and i.state = 'ready' and i.requires_key = ''
           and i.rank = :priority::bigint
           and i.seq <= :upTo::bigint and i.event_seq = 1
         order by i.seq limit 1) f;

-- name: reserve_job :moves
-- Reserves one job by its number in any open state but reserved (beanstalkd's reserve-job). The clock is read when the
-- row is locked: a reservation begins after the end of the one before.
with job as materialized (
  select kind, id from item
   where kind || '' = 'job' and seq = :number and state in ('ready', 'delayed', 'buried')
     and (:maxBytes?::integer is null or body_bytes <= :maxBytes)
     and (deadline_at is null or deadline_at > clock_timestamp())
     for update
), timed as materialized (select kind, id, clock_timestamp() as now from job)
update item i
   set state = 'held', lease_id = :token, holder = :holder, granted_at = t.now,
       expires_at = t.now + make_interval(secs => i.lease_seconds), attempts = i.attempts + 1,
       event_seq = i.event_seq + 1, last_event = 'reserved', last_actor = :holder,
       last_data = json_build_object('attempt', i.attempts + 1)
  from timed t
 where i.kind = t.kind and i.id = t.id
returning i.*;

-- name: find_runs
-- The newest run of each id, with the run that an add of this key began or met; `no`: of which add, from 1.
select a.no::integer as "no!", i.*, k.run as of_key, is_spent(i.queue, a.topic) as "spent!"
  from unnest(:ids::text[], :keys::text[], :topics::text[]) with ordinality as a (id, key, topic, no)
  join item i on i.kind = 'job' and i.id = any (:ids) and i.id = a.id
  left join job_key k on k.id = i.id and k.key = a.key;

-- name: finished_run
-- An earlier run that this token finished.
select id, queue, 'settled' as "state!" from job_run where id = :id and settled_token = token_hash(:token);

-- name: finish_jobs :moves
select {published}, settled_token from finish_jobs(:ids, :tokens, :actors);

-- name: finish_next :moves
select {published}, seq, settled_token, body, available_at, lease_id, expires_at, attempts, lease_seconds
  from finish_next(:ids, :tokens, :topics?::text[], :next, :holders);

-- name: next_of_job
-- What the finish by this token was given, while that is reserved. The topics and the holder lead to an index.
select i.* from (
  select next_id from item where kind = 'job' and id = :id and settled_token = token_hash(:token)
  union all
  select next_id from job_run where id = :id and settled_token = token_hash(:token)) f
  join item i on i.kind = 'job' and i.queue = any (:topics::text[]) and i.state = 'held' and i.holder = :holder
   and i.lease_id = f.next_id and i.expires_at > clock_timestamp();

-- name: delete_jobs :moves
-- In any open state; :alsoReserved false: not while it is reserved (beanstalkd).
select * from end_items('job', :ids, 'invalidated', null, 'deleted', p_actors => :actors, p_also_held => :alsoReserved,
                        p_numbers => :numbers);

-- name: release_jobs :moves
-- Gives reserved jobs back after their delays (seconds), with another priority where one is given. Those whose topic
-- allows no further attempt are buried instead, in the order of the call.
select * from give_back('job', :ids, :tokens, p_delays => :delays, p_priorities => :priorities,
                        p_reasons => :reasons);

-- name: bury_jobs :moves
-- Puts reserved jobs aside until they are kicked, in the order of the call, with another priority where one is given.
select * from give_back('job', :ids, :tokens, p_reason => 'asked', p_bury => true, p_priorities => :priorities,
                        p_reasons => :reasons);

-- name: bury_open_job :moves
-- For an operator, whatever open state it is in: who has it reserved loses it.
update item i
   set state = 'buried', end_reason = :reason, event_seq = i.event_seq + 1, last_event = 'buried', last_actor = :actor,
       last_data = json_build_object('reason', :reason::text)
 where i.kind = 'job' and i.id = :id and i.state in ('ready', 'delayed', 'held')
returning i.*;

-- name: return_jobs :moves
-- Makes reserved jobs ready, because the connection that held them is gone. Delay and priority stay, and it does not
-- count as a release. :undelivered: the answer never reached the client, so it was no attempt either.
select * from give_back('job', :ids, :tokens, p_undelivered => :undelivered,
                        p_reason => case when :undelivered then 'undelivered' else 'disconnected' end);

-- name: kick_topic :moves
-- If any are buried, only those, the longest buried first; else delayed ones, the soonest first, :limit at most. A
-- statement that continues an earlier one names its state and time (:state, :since): else a job that is buried again
-- meanwhile would be kicked without end.
with buried as materialized (
  select i.kind, i.id, i.state from item i
   where i.kind = 'job' and i.queue = :topic and i.state = 'buried'
     and (:state?::text is null or :state = 'buried') and (:since?::timestamptz is null or i.updated_at <= :since)
   order by i.buried_seq limit :limit::bigint for update
), delayed as materialized (
  select i.kind, i.id, i.state from item i
   where i.kind = 'job' and i.queue = :topic and i.state = 'delayed' and not exists (select 1 from buried)
     and (:state::text is null or :state = 'delayed') and (:since::timestamptz is null or i.updated_at <= :since)
   order by i.available_at, i.seq limit :limit::bigint for update
)
update item i
   set state = 'ready', available_at = t.now, first_available_at = least(i.first_available_at, t.now),
       event_seq = i.event_seq + 1, last_event = 'kicked', last_actor = :actor, last_data = null
  from (select * from buried union all select * from delayed) k, (select clock_timestamp() as now) t
 where i.kind = k.kind and i.id = k.id and i.state in ('buried', 'delayed')
returning i.*, k.state as "kicked_from!";

-- name: kick_job :moves
update item i
   set state = 'ready', available_at = t.now, first_available_at = least(i.first_available_at, t.now),
       event_seq = i.event_seq + 1, last_event = 'kicked', last_actor = :actor, last_data = null
  from (select clock_timestamp() as now) t
 where i.kind = 'job' and i.id = :id and i.state in ('buried', 'delayed')
   and (:number?::bigint is null or i.seq = :number)
returning i.*;

-- name: jobs_by_number
select * from item where kind || '' = 'job' and seq = any (:numbers::bigint[]);

-- name: peek_ready
select * from item where kind = 'job' and queue = :topic and state = 'ready' and requires_key = ''
   and (deadline_at is null or deadline_at > clock_timestamp())
 order by rank, seq limit 1;

-- name: peek_delayed
select * from item where kind = 'job' and queue = :topic and state = 'delayed' order by available_at, seq limit 1;

-- name: peek_buried
select * from item where kind = 'job' and queue = :topic and state = 'buried' order by buried_seq limit 1;

-- name: job_stats
-- For beanstalkd's stats-job; times in seconds. What happened to a job is counted in its log when it is asked for: few
-- jobs have a long one.
select i.seq, i.queue, i.state, i.priority, i.attempts, i.delay_seconds,
       coalesce(i.lease_seconds, 0) as "lease_seconds!",
       extract(epoch from t.now - i.created_at)::double precision as "age!",
       coalesce(extract(epoch from case i.state when 'held' then i.expires_at
                                                when 'delayed' then i.available_at end - t.now),
         0)::double precision as "time_left!",
       n.timeouts, n.releases, n.buries, n.kicks
  from item i cross join (select clock_timestamp() as now) t
 cross join lateral (
   select count(*) filter (
            where e.type = 'reclaimed' or (e.type = 'buried' and e.actor = 'system'))::integer as "timeouts!",
          count(*) filter (where e.type = 'released' and coalesce(e.data ->> 'reason', '')
                                   not in ('undelivered', 'disconnected'))::integer as "releases!",
          count(*) filter (where e.type = 'buried')::integer as "buries!",
          count(*) filter (where e.type = 'kicked')::integer as "kicks!"
     from event e where e.kind = 'job' and e.item_id = i.id and (e.no = i.seq or i.run = 1)) n
 where i.kind || '' = 'job' and i.seq = :number and i.ended_at is null;
