-- Lists of items. They run on connections of their own, where each call is planned for the filters that it names
-- (db/pool.ts): parts of a list that its filters leave out are no part of the plan.

-- name: list_items
-- Items of one queue or of all, newest first; with a :person, those that they hold or decided. The newest items of each
-- queue and state are merged: all of the held ones, which are few; of the others, the first in the order of an index
-- (item_state, item_decided_by). (:beforeCreatedAt, :beforeSeq): created_at and seq of the last row of the page before.
-- bytes: body, result, last_data, exclude, skipped
with page as (
  select p.* from queue q cross join (
    select coalesce(:createdAfter?::timestamptz, '-infinity') as after,
           coalesce(:createdBefore?::timestamptz, 'infinity') as before,
           coalesce(:beforeCreatedAt?::timestamptz, 'infinity') as at, coalesce(:beforeSeq?::bigint, 0) as seq) b
   cross join lateral (
    select created_at, seq, id from item
     where kind = q.kind and queue = q.name and state = 'held' and coalesce(:state?, 'held') = 'held'
       and (:person?::text is null or holder = :person)
       and created_at > b.after and created_at < b.before and (created_at, seq) < (b.at, b.seq)
    union all
    select e.*
      from unnest(array['ready', 'delayed', 'buried', 'settled', 'invalidated', 'expired', 'dead']) as s (state)
     cross join lateral (
      select created_at, seq, id from item
       where kind = q.kind and queue = q.name and state = s.state and state <> 'held'
         and created_at > b.after and created_at < b.before and (created_at, seq) < (b.at, b.seq)
       order by created_at desc, seq desc limit :limit) e
     where :person::text is null and s.state = coalesce(:state, s.state)
    union all
    select d.* from (
      select created_at, seq, id from item
       where kind = 'ticket' and queue = q.name and state = 'settled' and ended_by = :person
         and created_at > b.after and created_at < b.before and (created_at, seq) < (b.at, b.seq)
       order by created_at desc, seq desc limit :limit) d
     where q.kind = 'ticket' and coalesce(:state, 'settled') = 'settled') p
   where q.kind = :kind and (:queue?::text is null or q.name = :queue)
   order by created_at desc, seq desc limit :limit)
select i.* from page p join item i on i.kind = :kind and i.id = p.id
 order by i.created_at desc, i.seq desc;

-- name: full_text
select ready from full_text;

-- name: walk_tickets
-- The same by all that tickets can be filtered by (db/functions/lists.sql). Where a page has ended for the number of
-- tickets that it has looked at, its last row is no ticket, and says how far it has come.
-- bytes: body, result, last_data, exclude, skipped
select i.*, w.created_at as walked_at, w.seq as walked_seq
  from walk_tickets(:filter::jsonb, :limit) with ordinality w left join item i on i.kind = 'ticket' and i.id = w.id
 order by w.ordinality;
