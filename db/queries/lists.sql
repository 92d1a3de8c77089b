-- Lists of items. They run on connections of their own, where each call is planned for the filters that it names
-- (db/pool.ts): a filter that is null is no part of the plan, and a named state is found by the index item_state.

-- name: list_items
-- Newest first, of one queue or of all: each queue's newest, merged. (:beforeCreatedAt, :beforeSeq): created_at and
-- seq of the last row of the page before.
-- bytes: body, result, last_data, exclude, skipped
select i.* from queue q cross join lateral (
  select * from item
   where kind = q.kind and queue = q.name and (:state?::text is null or state = :state)
     and (:createdAfter?::timestamptz is null or created_at > :createdAfter)
     and created_at < coalesce(:createdBefore?::timestamptz, 'infinity')
     and (:beforeCreatedAt?::timestamptz is null or (created_at, seq) < (:beforeCreatedAt, :beforeSeq?::bigint))
   order by created_at desc, seq desc limit :limit) i
 where q.kind = :kind and (:queue?::text is null or q.name = :queue)
 order by i.created_at desc, i.seq desc limit :limit;

-- name: list_items_of_person
-- The same of what :person holds or decided; null: of what any person holds. A person holds few items, so these are
-- collected before they are sorted. Planned as one walk in the order of creation, the list would read every item of a
-- queue in
-- which nothing is held. What was decided is in the index item_decided_by, in order.
-- bytes: body, result, last_data, exclude, skipped
with held as materialized (
  select i.created_at, i.seq, i.id from queue q join item i on i.kind = q.kind and i.queue = q.name
   where q.kind = :kind and (:queue?::text is null or q.name = :queue)
     and coalesce(:state?, 'held') = 'held' and i.state = 'held'
     and (:person?::text is null or i.holder = :person)
     and (:createdAfter?::timestamptz is null or i.created_at > :createdAfter)
     and i.created_at < coalesce(:createdBefore?::timestamptz, 'infinity')
     and (:beforeCreatedAt?::timestamptz is null or (i.created_at, i.seq) < (:beforeCreatedAt, :beforeSeq?::bigint))
), decided as (
  select i.* from queue q cross join lateral (
    select created_at, seq, id from item
     where kind = 'ticket' and queue = q.name and state = 'settled' and ended_by = :person
       and (:createdAfter::timestamptz is null or created_at > :createdAfter)
       and created_at < coalesce(:createdBefore::timestamptz, 'infinity')
       and (:beforeCreatedAt::timestamptz is null or (created_at, seq) < (:beforeCreatedAt, :beforeSeq::bigint))
     order by created_at desc, seq desc limit :limit) i
   where q.kind = :kind and q.kind = 'ticket' and (:queue::text is null or q.name = :queue)
     and coalesce(:state, 'settled') = 'settled'
)
select i.* from (
  select * from held union all select * from decided order by created_at desc, seq desc limit :limit) p
  join item i on i.kind = :kind and i.id = p.id
 order by i.created_at desc, i.seq desc;
