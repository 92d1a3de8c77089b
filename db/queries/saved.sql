-- name: save
insert into saved (kind, owner, queue, name, value, shared)
values (:kind, :owner, :queue, :name, :value::jsonb, :shared)
on conflict (kind, owner, queue, name) do update
   set value = excluded.value, shared = excluded.shared, updated_at = clock_timestamp()
returning *;

-- name: list_saved
-- Those of :owner and those that are shared, newest first, behind the one numbered :before?.
select * from saved
 where kind = :kind and queue = :queue and (owner = :owner or shared) and coalesce(seq < :before?, true)
 order by seq desc limit :limit;

-- name: forget_saved
delete from saved where kind = :kind and owner = :owner and queue = :queue and name = :name returning name;
