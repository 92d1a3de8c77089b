-- What retention finds, and what the archive keeps of it (services/upkeep/retention.ts, db/functions/retention.sql).

-- name: finished_queues
-- The next :limit queues of these kinds with a final state in which they have items, in their order.
select kind as "kind!", queue as "queue!", what as "state!" from tally
 where kind = any (:kinds::text[]) and what in ('settled', 'invalidated', 'expired', 'dead')
   and (kind, queue, what) > (:afterKind::text, :afterQueue::text, :afterState::text)
 group by kind, queue, what having sum(n) > 0 order by kind, queue, what limit :limit::bigint;

-- name: finished_items
-- The next :limit items of a queue in one final state that were created before a time, in the order of creation, after
-- (:afterAt, :afterSeq). `done`: it also ended before that time, and has no work left.
select i.id, i.created_at::text as "at!", i.seq,
       coalesce(i.ended_at < c.at and is_done(i, c.upto), false) as "done!"
  from (select clock_timestamp() - make_interval(secs => :days * 86400::double precision) as at,
               published_to() as upto) c
 cross join lateral (
   select * from item
    where kind = :kind and queue = :queue and state = :state
      and (created_at, seq) > (:afterAt::timestamptz, :afterSeq::bigint) and created_at < c.at
    order by created_at, seq limit :limit::bigint) i
 order by i.created_at, i.seq;

-- name: finished_reviews
-- The next :limit reviews by number that were created before a time; `done`: it has not changed since then.
select r.id, r.seq, coalesce(r.updated_at < c.at and is_quiet(r), false) as "done!"
  from (select clock_timestamp() - make_interval(secs => :days * 86400::double precision) as at) c
 cross join lateral (select * from review where seq > :after::bigint order by seq limit :limit::bigint) r
 where r.created_at < c.at
 order by r.seq;

-- name: finished_tasks
-- The next :limit tasks by start that started before a time; `done`: it has no occurrence left, now or in the future.
select t.id, t.start_time::text as "at!", t.seq, is_over(t, c.at) as "done!"
  from (select clock_timestamp() - make_interval(secs => :days * 86400::double precision) as at) c
 cross join lateral (
   select * from task where (start_time, seq) > (:afterAt::timestamptz, :afterSeq::bigint) and start_time < c.at
    order by start_time, seq limit :limit::bigint) t
 order by t.start_time, t.seq;

-- name: topics_with_runs
-- Topics in which jobs have ended whose ids have begun anew.
select name as queue from queue
 where kind = 'job' and exists (select from job_run r where r.queue = name) order by name;

-- name: finished_runs
-- The next :limit of those that ended before a time; as ids they have their numbers.
select r.number::text as "id!", r.ended_at::text as "at!", r.number as "seq!",
       not exists (select from event e
                    where e.kind = 'job' and e.item_id = r.id and e.seq = r.last_seq and e.id > published_to())
       and not exists (select from wait w where w.kind = 'job' and w.item_id = r.id and w.run = r.run) as "done!"
  from job_run r
 where r.queue = :queue and (r.ended_at, r.number) > (:afterAt::timestamptz, :afterSeq::bigint)
   and r.ended_at < clock_timestamp() - make_interval(secs => :days * 86400::double precision)
 order by r.ended_at, r.number limit :limit::bigint;

-- name: archived_runs
-- bytes: line
select r.number::text as "id!", r.last_seq as "seq!",
       left(r.record::text, -1) || ', "events": ' || archived_events('job', r.id, p.last_seq, r.last_seq) || '}'
         as "line!"
  from job_run r
 cross join lateral (
   select coalesce(max(b.last_seq), 0) as last_seq from job_run b where b.id = r.id and b.run < r.run) p
 where r.number = any (:ids::text[]::bigint[]) order by r.number;

-- name: archived_items
-- bytes: line
-- Each as a line for the archive, in the words of the API: no tokens, secrets or hashes.
select i.id, i.event_seq as seq, json_build_object(
         'kind', i.kind, 'id', i.id, 'queue', i.queue, 'state', :word::text, 'priority', i.priority, 'body', i.body,
         'requires', i.requires, 'exclude', i.exclude, 'attempts', i.attempts, 'version', i.version,
         'createdAt', iso_time(i.created_at), 'availableAt', iso_time(i.available_at),
         'deadlineAt', iso_time(i.deadline_at),
         'endedAt', iso_time(i.ended_at), 'endedBy', i.ended_by, 'reason', i.end_reason, 'result', i.result,
         'case', (select json_build_object(
                    'parties', f.parties, 'gold', f.gold, 'tally', f.tally, 'winner', f.winner, 'wasted', f.wasted,
                    'votes', coalesce((select json_agg(json_build_object(
                                 'juror', v.juror, 'person', v.person, 'option', v.option, 'comment', v.comment,
                                 'at', iso_time(v.at), 'counted', v.counted) order by v.seq)
                               from vote v where v.case_id = f.id), '[]'))
                    from case_file f where i.kind = 'case' and f.id = i.id),
         'events', archived_events(i.kind, i.id), 'deliveries', archived_deliveries(i.kind, i.id))::text as "line!"
  from item i where i.kind = :kind and i.id = any (:ids) order by i.seq;

-- name: archived_reviews
-- bytes: line
select r.id, r.log_seq as seq, json_build_object(
         'kind', 'review', 'id', r.id, 'record', r.record, 'body', r.body, 'version', r.version,
         'createdAt', iso_time(r.created_at), 'updatedAt', iso_time(r.updated_at),
         'events', archived_events('review', r.id), 'deliveries', archived_deliveries('review', r.id))::text as "line!"
  from review r where r.id = any (:ids) order by r.seq;

-- name: archived_tasks
-- bytes: line
select t.id, t.revision as seq, json_build_object(
         'kind', 'rotation', 'id', t.id, 'type', t.type, 'executor', t.executor, 'startTime', iso_time(t.start_time),
         'everyMinutes', t.every_minutes, 'dailyTime', t.daily_time, 'everyDays', t.every_days, 'timezone', t.timezone,
         'templateId', t.template_id, 'params', t.params, 'dispatchTimes', t.dispatch_times, 'dispatch', t.dispatch,
         'createdAt', iso_time(t.created_at), 'updatedAt', iso_time(t.updated_at),
         'events', archived_events('rotation', t.id))::text as "line!"
  from task t where t.id = any (:ids) order by t.seq;
