-- Tickets of the same subject (db/functions/subjects.sql).

-- name: lock_subjects
-- not null: locked
select lock_subjects(:ids) is not null as locked;

-- name: sync_subjects
-- moves
select {published}, settled_token from sync_subjects(:ids);

-- name: count_synced
-- not null: n
select count(*)::integer as n from item where subject = :subject and synced_with = :id;

-- name: open_of_subject
-- One batch of a bulk call: open tickets of a subject in these states, behind the row (:afterQueue, :afterSeq).
select id, queue, seq from item
 where subject = :subject and ended_at is null and look is null and (queue, seq) > (:afterQueue, :afterSeq::bigint)
   and (:queue?::text is null or queue = :queue) and state = any (:states::text[])
   and (:createdBefore?::timestamptz is null or created_at < :createdBefore)
   and (:priorityBelow?::bigint is null or priority < :priorityBelow)
 order by queue, seq limit :limit::bigint;
