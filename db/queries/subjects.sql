-- Tickets of the same subject (db/functions/subjects.sql).

-- name: lock_subjects
select lock_subjects(:ids) is not null as "locked!";

-- name: sync_subjects :moves
select {published}, settled_token from sync_subjects(:ids);

-- name: count_synced
select count(*)::integer as "n!" from item where subject = :subject and synced_with = :id;

-- name: subject_context
-- What is known of a ticket's subject beside it, in these queues or in all, from the thousand latest others (S4.9).
-- Second looks are no tickets of their own: what stands by now is shown. What one is open about is shown to nobody but
-- its decider, who is not to learn of it; a look is shown nothing of what it is about; and nobody gold of others.
with other as materialized (
  select o.state, o.ended_at, standing_decision(o) as result,
         o.ended_by = any (i.names)
         or not exists (select from jsonb_array_elements(o.look -> 'looks') e where e ->> 'outcome' is null) as shown
    from (select id, subject, look, known_as(holder) as names from item where kind = 'ticket' and id = :id) i
    join item o on o.subject = i.subject and o.id <> i.id and o.id is distinct from i.look #>> '{of,id}'
   where not o.erased
     and (:queues?::text[] is null or exists (
       select from unnest(:queues) q where o.queue = q or q like '%*' and starts_with(o.queue, left(q, -1))))
     and o.look #>> '{of,id}' is null
     and (not is_gold(o.look) or i.names && array[o.holder, o.ended_by])
   order by o.created_at desc, o.seq desc limit 1000)
select count(*) filter (where ended_at is null)::integer as "open!",
       count(*) filter (where state = 'settled')::integer as "decided!",
       (select coalesce(json_agg(json_build_object('decision', result, 'at', ended_at)), '[]') from (
          select result, ended_at from other where state = 'settled' and shown
           order by ended_at desc limit 5) s) as "last!"
  from other;

-- name: open_of_subject
-- One batch of a bulk call: open tickets of a subject in these states, behind the row (:afterQueue, :afterSeq).
select id, queue, seq from item
 where subject = :subject and ended_at is null and look is null and (queue, seq) > (:afterQueue, :afterSeq::bigint)
   and (:queue?::text is null or queue = :queue) and state = any (:states::text[])
   and (:createdBefore?::timestamptz is null or created_at < :createdBefore)
   and (:priorityBelow?::bigint is null or priority < :priorityBelow)
 order by queue, seq limit :limit::bigint;
