-- What needs a workflow, and of which workflows nothing needs (services/doctor/workflows.ts).

-- name: driven_part
-- Of the :limit items after (:afterKind, :afterId) in the order of the primary key, those that need a workflow: they
-- have a due time, a pending outcome or missing jurors. `wanted` is null in the row that says how far was read. Reading
-- a million items takes some seconds, a part at a time.
with part as materialized (
  select kind, id, delivery_pending or lacks_jurors or ended_at is null and wake_at is not null as wanted from item
   where (kind, id) > (:afterKind::text, :afterId::text) order by kind, id limit :limit
)
select kind as "kind!", id as "id!", wanted from part where wanted
union all
(select kind, id, null from part order by kind desc, id desc limit 1);

-- name: still_driven
-- Of these items, those that need a workflow now and for which nothing is on its way to one.
select i.kind, i.id from unnest(:kinds::text[], :ids::text[]) as s (kind, id)
  join item i on i.kind = s.kind and i.id = s.id
 where (i.delivery_pending or i.lacks_jurors or i.ended_at is null and i.wake_at is not null)
   and not is_on_its_way(i.kind, i.id);

-- name: needless_items
-- Of these items, those that need no workflow: they do not exist, or ended more than :seconds ago with nothing pending
-- and nothing on its way.
select s.kind as "kind!", s.id as "id!", i.id is not null as "present!"
  from unnest(:kinds::text[], :ids::text[]) as s (kind, id)
  left join item i on i.kind = s.kind and i.id = s.id
 where i.id is null
    or i.ended_at is not null and not i.delivery_pending
       and i.updated_at < clock_timestamp() - make_interval(secs => :seconds::double precision)
       and not is_on_its_way(i.kind, i.id);

-- name: driven_reviews
-- Reviews with callbacks that were received more than :seconds ago and are published but not applied (`n` null), or
-- with changes that have been undelivered for as long. Reads the pending rows (review_callback_pending,
-- delivery_pending).
select p.id, p.n from (
    select distinct c.review_id as "id!", null::integer as n from review_callback c
     where c.outcome = 'pending'
       and c.received_at < clock_timestamp() - make_interval(secs => :seconds::double precision)
       and c.arrival <= (select l.reviews from log_shard l where l.shard = shard_of('review', c.review_id))
    union all
    select d.item_id collate "C", d.n from delivery d
     where d.kind = 'review' and d.state = 'pending'
       and d.updated_at < clock_timestamp() - make_interval(secs => :seconds)) p
 where not exists (select from unpublished u where u.kind = 'review' and u.item_id = p.id)
   and exists (select from review r where r.id = p.id)
 order by p.id, p.n limit :limit;

-- name: own_deliveries
-- Deliveries that have a workflow of their own, which all but an outcome's first one have: those that have been pending
-- for :seconds and are neither to be started nor to be resynchronised (delivery_pending).
select d.kind as "kind!", d.item_id as "item_id!", d.n as "n!"
  from delivery d join item i on i.kind = d.kind and i.id = d.item_id
 where d.state = 'pending' and (d.n > 1 or not i.delivery_pending)
   and d.updated_at < clock_timestamp() - make_interval(secs => :seconds::double precision)
   and not exists (select from delivery_start s where s.kind = d.kind and s.item_id = d.item_id and s.n = d.n)
   and not exists (
     select from resync r where r.what = 'delivery' and r.parent = d.kind and r.name = d.item_id and r.n = d.n)
 order by d.kind, d.item_id, d.n limit :limit;

-- name: settled_schedules
-- Schedules that are not about to be brought to Temporal.
select s.topic, s.name from schedule s
 where not exists (select from resync r where r.what = 'schedule' and r.parent = s.topic and r.name = s.name)
 order by s.topic, s.name;

-- name: publish_again
-- Marks items and reviews: followers of the log publish them as they are.
insert into unpublished (kind, item_id) select s.kind, s.id from unnest(:kinds::text[], :ids::text[]) as s (kind, id)
on conflict (kind, item_id) do update set at = excluded.at;
