-- Workflows that wait for the end of an item (B.1).

-- name: keep_wait
-- No row: the item, or this run of it, is over. The item stays locked, so that it cannot end unnoticed meanwhile.
with open as materialized (
  select i.run from item i
   where i.kind = :kind and i.id = :id and i.run = :run and i.ended_at is null for share)
insert into wait as w (workflow_id, kind, item_id, run)
select :workflowId, :kind, :id, o.run from open o
on conflict (workflow_id) do update set answered = w.answered
returning workflow_id;

-- name: due_waits
-- Workflows to signal, and again in ten seconds, until they have answered. `known`: one that is not found never comes.
with due as materialized (
  select workflow_id from wait where wake_at <= clock_timestamp() order by wake_at limit :limit for update skip locked)
update wait w set wake_at = clock_timestamp() + interval '10 seconds'
  from due d where w.workflow_id = d.workflow_id
returning w.workflow_id, w.answered or w.created_at < clock_timestamp() - interval '1 day' as "known!";

-- name: answer_wait
update wait set answered = true where workflow_id = :workflowId;

-- name: forget_wait
delete from wait where workflow_id = :workflowId;

-- name: run_state
-- How a run of a job ended that is not the newest.
select r.record ->> 'state' as "state!" from job_run r where r.id = :id and r.run = :run;
