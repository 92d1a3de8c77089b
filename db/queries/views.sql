-- name: put_view
insert into saved_view (owner, name, filter, shared) values (:owner, :name, :filter::jsonb, :shared)
on conflict (owner, name) do update
   set filter = excluded.filter, shared = excluded.shared, updated_at = clock_timestamp()
returning *;

-- name: list_views
-- Those of :owner and those that are shared, newest first, behind the one numbered :before?.
select * from saved_view where (owner = :owner or shared) and coalesce(seq < :before?, true)
 order by seq desc limit :limit;

-- name: delete_view
delete from saved_view where owner = :owner and name = :name returning name;
