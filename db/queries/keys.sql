-- API keys, hashed at rest.

-- name: add_key
insert into api_key (id, name, role, subject, hash) values ($1, $2, $3, $4, $5) returning *;

-- name: get_key
select * from api_key where id = $1 and revoked_at is null;

-- name: list_keys
select id, name, role, subject, created_at, revoked_at from api_key order by created_at;

-- name: revoke_key
update api_key set revoked_at = clock_timestamp() where id = $1 and revoked_at is null returning id;

-- name: add_stream_ticket
insert into stream_ticket (hash, key_id, actor, role, subject, expires_at)
values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6)) returning expires_at;

-- name: get_stream_ticket
select * from stream_ticket t where hash = $1 and expires_at > clock_timestamp()
   and exists (select 1 from api_key k where k.id = t.key_id and k.revoked_at is null);

-- name: keep_stream_ticket
-- Its stream is open: a browser that is cut off comes back with the same one.
update stream_ticket set expires_at = greatest(expires_at, clock_timestamp() + make_interval(secs => $2))
 where hash = $1 and expires_at > clock_timestamp();

-- name: forget_stream_tickets
delete from stream_ticket where expires_at < clock_timestamp();
