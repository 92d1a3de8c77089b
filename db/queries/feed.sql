-- The feed: positions are given out by db/functions/feed.sql.

-- name: feed_page
-- Up to :limit events after position :after, with no more than :bytes bytes of data except for the last one, which
-- bounds the memory of a page. Each event is looked up on its own: planned for any number of rows, a join would read
-- the whole table.
select seq, kind, item_id, no, event_seq, type, actor, at, data,
       case when kind = 'ticket' then exists (select from gold_copy c where c.id = item_id) else false end as "gold!"
  from (
  select f.seq, e.kind, e.item_id, e.no, e.seq as event_seq, e.type, e.actor, e.at, e.data,
         sum(e.bytes) over (order by f.seq rows unbounded preceding) - e.bytes as bytes_before
    from (select seq, event_id from feed where seq > :after order by seq limit :limit) f
   cross join lateral (
     select i.*, coalesce(octet_length(i.data::text), 0) as bytes from event i where i.id = f.event_id limit 1) e) p
 where bytes_before < :bytes
 order by seq;

-- name: feed_end
-- The last position with those that are not given out yet: of committed events behind it, and in holes.
select s.newest + (select count(*) from event where id > s.upto) + (
         select count(*) from feed_hole h join event e on e.id between h.first and h.last) as "newest!"
  from feed_state s;
