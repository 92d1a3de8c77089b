-- Verdict callbacks: what was sent, to whom, with what outcome (S0.10).

-- name: open_delivery
-- The one delivery of an item's outcome; a second run of the activity finds the first one's row.
insert into delivery (kind, item_id, n, type, version, url, state)
select i.kind, i.id, 1, $3, i.version, $4, 'pending' from item i where i.kind = $1 and i.id = $2 and i.telling
on conflict (kind, item_id, n) do update set url = excluded.url, updated_at = clock_timestamp() where delivery.state = 'pending'
returning *;

-- name: reopen_delivery
update delivery set state = 'pending', updated_at = clock_timestamp()
 where kind = $1 and item_id = $2 and n = $3 and state <> 'pending' returning *;

-- name: get_delivery
select * from delivery where kind = $1 and item_id = $2 and n = $3;

-- name: attempt_delivery
update delivery set attempts = attempts + 1, status = $4, error = $5, state = $6, url = $7, updated_at = clock_timestamp()
 where kind = $1 and item_id = $2 and n = $3 returning *;

-- name: told
-- The outcome is with whom it concerns, or will never be: the item's last log line.
update item set telling = false, event_seq = event_seq + 1, last_event = $3, last_actor = 'system',
       last_data = $4::json, updated_at = clock_timestamp()
 where kind = $1 and id = $2 returning *;

-- name: list_deliveries
-- Without the bodies: of a review's change, each is the whole review.
select kind, item_id, n, type, version, url, state, attempts, status, error, created_at, updated_at from delivery
 where kind = $1 and item_id = $2 and n > $3::bigint order by n limit $4;

-- name: fail_delivery
update delivery set state = 'failed', updated_at = clock_timestamp()
 where kind = $1 and item_id = $2 and n = $3 and state = 'pending' returning *;

-- name: deliveries_to_start
select kind, item_id, n from delivery_start order by at limit $1;

-- name: delivery_started
delete from delivery_start where kind = $1 and item_id = $2 and n = $3;

-- name: open_invitation
-- What an invitation's delivery is about; no row: it has ended, and its message is not needed any more.
select l.holder as juror, l.expires_at from delivery d join lease l on l.token = d.body ->> 'token'
 where d.kind = 'case' and d.item_id = $1 and d.n = $2 and l.ended_at is null and l.expires_at > clock_timestamp();

-- name: end_delivery
-- Its message is not needed any more.
update delivery set state = 'failed', error = $4, updated_at = clock_timestamp()
 where kind = $1 and item_id = $2 and n = $3 and state = 'pending' returning *;
