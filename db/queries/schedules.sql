-- Periodic jobs (S3.7). Their rhythm is also with Temporal.

-- name: put_schedule
insert into schedule (topic, name, every_seconds, cron, timezone, body, ttr, priority)
values (:topic, :name, :everySeconds?, :cron?, :timezone, :body::json, :ttr, :priority)
on conflict (topic, name) do update
   set every_seconds = excluded.every_seconds, cron = excluded.cron, timezone = excluded.timezone,
       body = excluded.body, ttr = excluded.ttr, priority = excluded.priority, updated_at = clock_timestamp()
returning *;

-- name: get_schedule
select * from schedule where topic = :topic and name = :name;

-- name: list_schedules
-- bytes: body
select * from schedule
 where topic = :topic and (:before?::bigint is null or seq < :before) order by seq desc limit :limit;

-- name: delete_schedule
delete from schedule where topic = :topic and name = :name returning name;
