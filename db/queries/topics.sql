-- Topics, which are the queues of jobs, and what beanstalkd asks of them, where they are tubes (S3.8).

-- name: put_topic
insert into queue (kind, name, max_attempts, paused, push, workflow, ids)
values ('job', :topic, :maxAttempts?, :paused, :push?::jsonb, :workflow, :ids)
on conflict (kind, name) do update
   set max_attempts = excluded.max_attempts, paused = excluded.paused, push = excluded.push,
       workflow = excluded.workflow, ids = excluded.ids,
       settings_version = nextval('item_version'), updated_at = clock_timestamp(), deleted_at = null
returning *;

-- name: pause_topic
-- 0 seconds end a pause.
update queue
   set pause_seconds = :seconds::double precision,
       paused_until = case when :seconds::double precision > 0
                           then clock_timestamp() + make_interval(secs => :seconds) end
 where kind = 'job' and name = :topic returning *;

-- name: push_topics
select name, push as "push!" from queue where kind = 'job' and push is not null;

-- name: topic_counts
-- Of one topic, or of each (:topic null): how many jobs per state, and how often a reservation ran out.
select queue as "queue!", what as "what!", sum(n)::bigint as "n!" from tally
 where kind = 'job' and (:topic?::text is null or queue = :topic)
 group by queue, what having sum(n) <> 0;

-- name: urgent_jobs
-- Ready jobs with a priority below 1024, as beanstalkd counts them, of one topic or of all.
select count(*)::integer as "n!" from item
 where kind = 'job' and (:topic?::text is null or queue = :topic) and state = 'ready' and requires_key = ''
   and rank < 1024;

-- name: topic_pause
-- How long a topic is paused in all, and what is left of it, in seconds. No row: it is not paused.
select pause_seconds as seconds, extract(epoch from paused_until - clock_timestamp())::double precision as "left!"
  from queue where kind = 'job' and name = :topic and paused_until > clock_timestamp();

-- name: open_tube
-- Whether a topic has open jobs. A tube without any that no connection uses or watches has ceased to be, and its pause
-- with it.
with jobs as materialized (
  select coalesce(sum(n), 0) > 0 as "any!" from tally
   where kind = 'job' and queue = :topic and what in ('ready', 'delayed', 'held', 'buried')
), ended as (
  update queue set paused_until = null, pause_seconds = 0 from jobs
   where kind = 'job' and name = :topic and paused_until is not null and not jobs.any
)
select jobs.any from jobs;
