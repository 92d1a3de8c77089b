-- Reviews: what is kept of them, and what audits said (db/functions/reviews.sql).

-- name: receive_callbacks :moves
select * from receive_callbacks(:reviews, :ids, :kinds, :targets, :statuses, :auditTimes, :skewSeconds, :actors, :wait,
                                :whole);

-- name: waiting_reviews
-- Reviews with a callback that has waited for :seconds to be applied. (Limited: after a burst of a million, all of them
-- are late.)
select distinct review_id as "id!"
  from (select review_id, received_at from review_callback where outcome = 'pending' limit 10000) p
 where received_at < clock_timestamp() - make_interval(secs => :seconds) order by id limit :limit;

-- name: get_review
select * from review where id = :id;

-- name: list_reviews
-- bytes: record, body
select * from review where :before?::bigint is null or seq < :before? order by seq desc limit :limit;

-- name: review_stores
-- The three stores in one statement, so as of one moment.
select r.record as "record!", r.version as "version!",
       jsonb_build_object('id', b.review_id, 'status', b.status, 'pictures', b.pictures, 'replies', b.replies,
         'version', b.version, 'updatedAt', iso_time(b.updated_at)) as "base!",
       (select coalesce(jsonb_agg(jsonb_build_object('kind', x.kind, 'targetId', nullif(x.target_id, ''),
                 'position', x.position,
                 'status', x.status, 'auditTime', audit_text(x.audit_time)) order by x.kind desc, x.position), '[]')
          from review_index x where x.review_id = r.id and x.removed_at is null) as "index!",
       record_of_index(r.id) = r.record and b = base_of(r) as "in_step!"
  from review r left join review_base b on b.review_id = r.id
 where r.id = :id;

-- name: review_log
-- bytes: before, after
select *, audit_text(audit_time) as shown_time from review_callback
 where review_id = :id and seq > :after::bigint order by seq limit :limit;

-- name: review_change
-- A review as it was after line :n of its log, for a message about that, the line, and its callback of today.
select r.callback, json_build_object('kind', c.kind, 'targetId', nullif(c.target_id, ''), 'before', c.before,
                                     'after', c.after, 'auditTime', audit_text(c.audit_time),
                                     'callbackId', c.callback_id) as "line!", review_record(r.id, c.seq) as record,
       case when b.review_id is null then r.body else b.body end as body,
       iso_time(r.created_at) as "createdAt", iso_time(c.applied_at) as "updatedAt"
  from review r
  join review_callback c on c.review_id = r.id and c.seq = :n::integer
  left join lateral (
    select * from review_body where review_id = r.id and until_seq >= c.seq order by until_seq limit 1) b on true
 where r.id = :id;

-- name: review_counts
-- Lines of all reviews' logs by outcome, of one day or, without :day?, of today, in UTC.
select d.day, t.what as outcome, t.n
  from (select coalesce(:day?::text, to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD')) as "day!") d
  left join lateral (
    select what, sum(n)::bigint as n from tally where kind = 'review' and queue = d.day group by what) t on true;

-- name: callback_outcomes
-- In the order of arrival; the first of the same name beside each.
select c.outcome as "outcome!", f.outcome as first_outcome from review_callback c
  left join review_callback f
    on f.review_id = c.review_id and f.callback_id = c.callback_id and not f.repeated and c.repeated
 where c.review_id = :review and c.arrival = any (:arrivals::bigint[]) order by c.arrival;

-- name: review_of_picture
select review_id from review_index where kind = 'picture' and target_id = :picture
 order by removed_at is null desc, removed_at desc limit 1;
