-- Sessions of browsers. Each belongs to a key and has the key's current role, subject and queues.

-- name: add_session
-- No row: the key has ended meanwhile.
insert into session (hash, key_id, expires_at)
select :hash, k.id, least(clock_timestamp() + make_interval(secs => :seconds), k.expires_at) from api_key k
 where k.id = :keyId and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
returning expires_at, extract(epoch from expires_at - clock_timestamp())::double precision as "seconds!";

-- name: get_session
select key_id, expires_at from session where hash = :hash and expires_at > clock_timestamp();

-- name: end_session
delete from session where hash = :hash;

-- name: forget_sessions
delete from session where expires_at < (select clock_timestamp());
