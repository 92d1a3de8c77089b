-- API keys, hashed at rest.

-- name: add_key
-- No row: it would have ended already.
insert into api_key (id, name, role, subject, hash, queues, expires_at, calls_per_second)
select :id, :name, :role, :subject?, :hash, :queues?, :expiresAt?, :callsPerSecond?
 where coalesce(:expiresAt? > clock_timestamp(), true) returning *;

-- name: put_person_key
-- One that an administrator has ended begins anew: whether a person may sign in is decided by the provider.
insert into api_key (id, name, role, subject, hash, issuer, issuer_subject, expires_at)
values (:id, :name, :role, :subject?, :hash, :issuer, :issuerSubject,
        clock_timestamp() + make_interval(secs => :seconds))
on conflict (issuer, issuer_subject) do update
   set name = excluded.name, role = excluded.role, subject = excluded.subject,
       expires_at = excluded.expires_at, revoked_at = null
returning id;

-- name: get_key
select * from api_key where id = :id and revoked_at is null and (expires_at is null or expires_at > clock_timestamp());

-- name: list_keys
-- Newest first, without their hashes; :before?: behind this one.
select id, name, role, subject, queues, expires_at, calls_per_second, issuer, created_at, revoked_at, seq from api_key
 where :before?::bigint is null or seq < :before? order by seq desc limit :limit;

-- name: revoke_key
-- Its sessions and stream tickets end with it: a person who signs in at a provider again gets the same key. Repeating
-- the call changes nothing.
with sessions as (delete from session where key_id = :id), tickets as (delete from stream_ticket where key_id = :id)
update api_key set revoked_at = coalesce(revoked_at, clock_timestamp()) where id = :id returning *;

-- name: add_stream_ticket
insert into stream_ticket (hash, key_id, session, actor, role, subject, expires_at)
values (:hash, :keyId, :session?, :actor, :role, :subject?, clock_timestamp() + make_interval(secs => :seconds))
returning expires_at;

-- name: get_stream_ticket
-- session_ends: of the session that asked for it, with which it ends too.
select t.*, k.name as "name!", k.queues, s.expires_at as session_ends from stream_ticket t
  join api_key k on k.id = t.key_id and k.revoked_at is null
   and (k.expires_at is null or k.expires_at > clock_timestamp())
  left join session s on s.hash = t.session
 where t.hash = :hash and t.expires_at > clock_timestamp() and (t.session is null or s.expires_at > clock_timestamp());

-- name: keep_stream_ticket
-- Its stream is open: a browser that is cut off comes back with the same one.
update stream_ticket set expires_at = greatest(expires_at, clock_timestamp() + make_interval(secs => :seconds))
 where hash = :hash and expires_at > clock_timestamp();

-- name: forget_stream_tickets
delete from stream_ticket where expires_at < clock_timestamp();
