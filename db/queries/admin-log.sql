-- Who changed settings and keys (services/access/admin-log.ts).

-- name: open_admin_log
insert into admin_log (key_id, actor, operation, path, body, request_id)
values (:keyId?, :actor, :operation, :path, :body?::jsonb, :requestId?) returning seq;

-- name: forget_admin_log
delete from admin_log
 where seq in (select seq from admin_log order by seq limit 1000)
   and at < (select clock_timestamp()) - interval '2 years';

-- name: close_admin_log
update admin_log set status = :status where seq = :seq::bigint;

-- name: list_admin_log
-- Newest first; :before?: behind this one. Of a path also what is done below it, like pausing a queue.
-- bytes: body
select * from admin_log
 where (:before?::bigint is null or seq < :before)
   and (:path?::text is null or path = :path or path > :path || '/' and path < :path || '0')
 order by seq desc limit :limit;
