-- Verdict callbacks: what was sent, to whom, with what outcome (S0.10).

-- name: open_delivery
-- The one delivery of an item's outcome; a later attempt finds the first one's row and writes nothing. :version is that
-- of the decision: a second look may have moved the item on. :body? is kept where the outcome may change.
with opened as (
  insert into delivery (kind, item_id, n, type, version, queue, url, state, body)
  select i.kind, i.id, 1, :type, :version, i.queue, :url, 'pending', :body?::json
    -- locked: what is erased meanwhile is delivered no more
    from item i where i.kind = :kind and i.id = :id and i.delivery_pending for share of i
  on conflict (kind, item_id, n) do nothing
  returning *)
select * from opened
union all
select * from delivery where kind = :kind and item_id = :id and n = 1
limit 1;

-- name: reopen_delivery
update delivery
   set state = 'pending', attempts_before = attempts,
       next_attempt_at = clock_timestamp(), updated_at = clock_timestamp()
 where kind = :kind and item_id = :id and n = :n and state <> 'pending' and not is_erased(kind, item_id) returning *;

-- name: get_delivery
select * from delivery where kind = :kind and item_id = :id and n = :n;

-- name: attempt_delivery
-- Of two concurrent attempts the successful one counts, whichever ends last. :delaySeconds?: until the next one.
update delivery
   set attempts = attempts + 1, status = :status?, error = :error?, state = :state, url = :url,
       updated_at = clock_timestamp(),
       next_attempt_at = clock_timestamp() + make_interval(secs => :delaySeconds?::double precision)
 where kind = :kind and item_id = :id and n = :n and version = :version
   and (state = 'pending' or (state = 'failed' and :state = 'delivered' and not is_erased(kind, item_id)))
returning *;

-- name: conclude_delivery :moves :unseen
-- The outcome is with whom it concerns, or will never be: the item's last log line.
update item set delivery_pending = false, event_seq = event_seq + 1, last_event = :event, last_actor = 'system',
       last_data = :data::json
 where kind = :kind and id = :id returning *;

-- columns: delivery
kind, item_id, n, type, version, queue, url, state, attempts, attempts_before, next_attempt_at, status, error,
seq, created_at, updated_at

-- name: list_deliveries
-- Without the bodies: of a review's change, each is the whole review.
select {delivery}
  from delivery where kind = :kind and item_id = :id and n < :before::bigint order by n desc limit :limit;

-- name: list_recent_deliveries
-- :queue? and :host?: of these only. One short index scan per kind and state, merged.
select d.* from unnest(:kinds::text[]) as k (kind) cross join unnest(:states::text[]) as s (state)
 cross join lateral (
   select {delivery}
     from delivery o
    where o.kind = k.kind and o.state = s.state and o.seq < :before
      and (:queue?::text is null or o.queue = :queue) and (:host?::text is null or o.host = :host)
    order by o.seq desc limit :limit) d
 order by d.seq desc limit :limit;

-- name: delivery_counts
select queue as "kind!", what as "what!", sum(n)::bigint as "n!" from tally
 where kind = 'delivery' group by queue, what;

-- name: oldest_pending_delivery
select coalesce(max(extract(epoch from clock_timestamp() - d.created_at)), 0)::double precision as "seconds!"
  from unnest(:kinds::text[]) as k (kind)
 cross join lateral (
   select o.created_at from delivery o where o.state = 'pending' and o.kind = k.kind order by o.seq limit 1) d;

-- name: fail_delivery
-- Attempts are over, or the message is not needed any more (:why?).
update delivery set state = 'failed', error = coalesce(:why?, error), updated_at = clock_timestamp()
 where kind = :kind and item_id = :id and n = :n and state = 'pending' returning *;

-- name: deliveries_to_start
select kind, item_id, n from delivery_start where at <= clock_timestamp() order by at limit :limit;

-- name: start_delivery_later
-- A delivery that Temporal rejects must not stay ahead of all others.
update delivery_start set at = clock_timestamp() + interval '10 seconds'
 where kind = :kind and item_id = :id and n = :n;

-- name: delivery_started
delete from delivery_start where kind = :kind and item_id = :id and n = :n;

-- name: open_invitation
-- What an invitation's delivery is about; no row: it has ended, and its message is not needed any more.
select l.holder as juror, l.expires_at as "expires_at!" from delivery d join lease l on l.token = d.body ->> 'token'
 where d.kind = 'case' and d.item_id = :id and d.n = :n and l.ended_at is null and l.expires_at > clock_timestamp();
