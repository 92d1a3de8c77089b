-- Verdict callbacks: what was sent, to whom, with what outcome (S0.10).

-- name: open_delivery
-- The one delivery of an item's outcome; a later attempt finds the first one's row and writes nothing.
with opened as (
  insert into delivery (kind, item_id, n, type, version, queue, url, state)
  select i.kind, i.id, 1, $3, i.version, i.queue, $4, 'pending' from item i where i.kind = $1 and i.id = $2 and i.telling
  on conflict (kind, item_id, n) do nothing
  returning *)
select * from opened
union all
select * from delivery where kind = $1 and item_id = $2 and n = 1
limit 1;

-- name: reopen_delivery
update delivery
   set state = 'pending', attempts_before = attempts, next_attempt_at = clock_timestamp(), updated_at = clock_timestamp()
 where kind = $1 and item_id = $2 and n = $3 and state <> 'pending' returning *;

-- name: get_delivery
select * from delivery where kind = $1 and item_id = $2 and n = $3;

-- name: attempt_delivery
-- Of two attempts at once the one that was served counts, in whatever order they end. $8: seconds until the next one.
update delivery
   set attempts = attempts + 1, status = $4, error = $5, state = $6, url = $7, updated_at = clock_timestamp(),
       next_attempt_at = clock_timestamp() + make_interval(secs => $8::double precision)
 where kind = $1 and item_id = $2 and n = $3 and (state = 'pending' or (state = 'failed' and $6 = 'delivered'))
returning *;

-- name: told
-- moves
-- The outcome is with whom it concerns, or will never be: the item's last log line.
update item set telling = false, event_seq = event_seq + 1, last_event = $3, last_actor = 'system',
       last_data = $4::json, updated_at = clock_timestamp()
 where kind = $1 and id = $2 returning *;

-- name: list_deliveries
-- Without the bodies: of a review's change, each is the whole review.
select kind, item_id, n, type, version, queue, url, state, attempts, attempts_before, next_attempt_at, status, error, seq, created_at, updated_at
  from delivery where kind = $1 and item_id = $2 and n < $3::bigint order by n desc limit $4;

-- name: list_all_deliveries
-- One short walk of the index per kind and state, merged: fast whatever the others are.
select d.* from unnest($1::text[]) as k (kind) cross join unnest($2::text[]) as s (state)
 cross join lateral (
   select kind, item_id, n, type, version, queue, url, state, attempts, attempts_before, next_attempt_at, status, error, seq, created_at, updated_at
     from delivery o where o.kind = k.kind and o.state = s.state and o.seq < $3 order by o.seq desc limit $4) d
 order by d.seq desc limit $4;

-- name: list_queue_deliveries
-- $6: of this host only, or null.
select d.* from unnest($1::text[]) as k (kind) cross join unnest($2::text[]) as s (state)
 cross join lateral (
   select kind, item_id, n, type, version, queue, url, state, attempts, attempts_before, next_attempt_at, status, error, seq, created_at, updated_at
     from delivery o
    where o.queue = $5 and o.kind = k.kind and o.state = s.state and o.seq < $3 and ($6::text is null or o.host = $6)
    order by o.seq desc limit $4) d
 order by d.seq desc limit $4;

-- name: list_host_deliveries
select d.* from unnest($1::text[]) as k (kind) cross join unnest($2::text[]) as s (state)
 cross join lateral (
   select kind, item_id, n, type, version, queue, url, state, attempts, attempts_before, next_attempt_at, status, error, seq, created_at, updated_at
     from delivery o
    where o.host = $5 and o.kind = k.kind and o.state = s.state and o.seq < $3 order by o.seq desc limit $4) d
 order by d.seq desc limit $4;

-- name: delivery_counts
-- not null: n
select queue as kind, what, sum(n)::bigint as n from tally where kind = 'delivery' group by queue, what;

-- name: oldest_pending_delivery
-- not null: seconds
select coalesce(max(extract(epoch from clock_timestamp() - d.created_at)), 0)::double precision as seconds
  from unnest($1::text[]) as k (kind)
 cross join lateral (
   select o.created_at from delivery o where o.state = 'pending' and o.kind = k.kind order by o.seq limit 1) d;

-- name: fail_delivery
update delivery set state = 'failed', updated_at = clock_timestamp()
 where kind = $1 and item_id = $2 and n = $3 and state = 'pending' returning *;

-- name: deliveries_to_start
select kind, item_id, n from delivery_start order by at limit $1;

-- name: delivery_started
delete from delivery_start where kind = $1 and item_id = $2 and n = $3;

-- name: open_invitation
-- not null: expires_at
-- What an invitation's delivery is about; no row: it has ended, and its message is not needed any more.
select l.holder as juror, l.expires_at from delivery d join lease l on l.token = d.body ->> 'token'
 where d.kind = 'case' and d.item_id = $1 and d.n = $2 and l.ended_at is null and l.expires_at > clock_timestamp();

-- name: end_delivery
-- Its message is not needed any more.
update delivery set state = 'failed', error = $4, updated_at = clock_timestamp()
 where kind = $1 and item_id = $2 and n = $3 and state = 'pending' returning *;
