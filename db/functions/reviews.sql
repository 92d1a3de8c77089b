-- Callbacks of audits (S1). A review's row is its lock: what comes and what is applied goes one after the
-- other, and nothing waits longer than for that.

-- An audit's time as it is shown: with microseconds only where it has some.
create or replace function audit_text(at timestamptz) returns text language sql immutable parallel safe as $$
  select case when at = date_trunc('milliseconds', at) then iso_time(at)
              else to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') end
$$;

-- Keeps callbacks, in the order in which they are given, before they are acknowledged. Without a
-- time it is the database's, in whole milliseconds. A time ahead of that counts as of the arrival: a caller whose clock
-- is fast must not make what comes after it late (S1.4).
-- p_wait   whether to wait for reviews that are locked, by an edit for instance; callbacks of many reviews in one call
--          must not all wait for one of them
-- p_whole  keeps all of them or none
-- problem  'no_review', 'erased', 'no_target', 'too_far' or, without p_wait, 'busy': that one was not kept
create or replace function receive_callbacks(
  p_reviews text[], p_ids text[], p_kinds text[], p_targets text[], p_statuses integer[], p_times timestamptz[],
  p_skew_seconds double precision, p_actors text[] default null, p_wait boolean default true,
  p_whole boolean default false
) returns table (no integer, problem text, arrival bigint, received_at timestamptz) language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_locked text[];
begin
  if p_wait then
    v_locked := array(select r.id from review r where r.id = any (p_reviews) order by r.id for no key update);
  else
    v_locked := array(
      select r.id from review r where r.id = any (p_reviews) order by r.id for no key update skip locked);
  end if;
  v_now := clock_timestamp();
  return query
  with sent as materialized (
    select s.*, row_number() over (partition by s.review, s.id order by s.n) as nth, case
             when not exists (select from review r where r.id = s.review) then 'no_review'
             when not s.review = any (v_locked) then 'busy'
             when is_erased('review', s.review) then 'erased'
             when not exists (
               select from review_index x
                where x.review_id = s.review and x.kind = s.what and x.target_id = s.target) then 'no_target'
             when s.time > v_now + make_interval(secs => p_skew_seconds) then 'too_far' end as fault
      from unnest(p_reviews, p_ids, p_kinds, p_targets, p_statuses, p_times, p_actors) with ordinality
             as s (review, id, what, target, status, time, actor, n)
  ), kept as (
    insert into review_callback as c (
      review_id, callback_id, kind, target_id, status, audit_time, received_at, repeated, actor)
    select s.review, s.id, s.what, s.target, s.status,
           case when s.time <= v_now then s.time else date_trunc('milliseconds', v_now) end, v_now,
           s.nth > 1 or exists (
             select from review_callback o
              where o.review_id = s.review and o.callback_id = s.id and not o.repeated), coalesce(s.actor, 'anonymous')
      from sent s where s.fault is null and not (p_whole and exists (select from sent o where o.fault is not null))
     order by s.n
    returning c.review_id, c.callback_id, c.arrival
  ), numbered as (
    select k.*, row_number() over (partition by k.review_id, k.callback_id order by k.arrival) as nth from kept k
  )
  select s.n::integer, s.fault, k.arrival, v_now
    from sent s left join numbered k on k.review_id = s.review and k.callback_id = s.id and k.nth = s.nth
   order by s.n;
end $$;

-- Applies what has come for one review, in order, at most p_limit of it. Which callback wins is decided by
-- (audit time, arrival) against what was applied last, never by when it is applied (S1.3).
-- more     perhaps not all of it
-- telling  the delivery that comes next
create or replace function apply_review(p_id text, p_limit integer)
returns table (resolved integer, more boolean, version bigint, telling integer) language plpgsql as $$
#variable_conflict use_column
declare
  v_review review;
  v_entry review_callback;
  v_target review_index;
  v_resolved integer := 0;
  v_logged integer;
begin
  select * into v_review from review where id = p_id for no key update;
  if not found then return; end if;
  -- it may have megabytes, and would be copied with the row
  v_review.body := null;
  v_logged := v_review.log_seq;
  for v_entry in
    select * from review_callback where review_id = p_id and outcome = 'pending' order by arrival limit p_limit
  loop
    select * into v_target from review_index
     where review_id = p_id and kind = v_entry.kind and target_id = v_entry.target_id;
    v_resolved := v_resolved + 1;
    v_review.log_seq := v_review.log_seq + 1;
    v_entry.reason := case when v_entry.repeated then 'repeated' when v_target.removed_at is not null then 'removed'
                           when (v_entry.audit_time, v_entry.arrival) < (v_target.audit_time, v_target.arrival)
                             then 'older' end;
    v_entry.outcome := case v_entry.reason when 'repeated' then 'duplicate' when 'removed' then 'expired'
                                           when 'older' then 'expired' else 'applied' end;
    v_entry.applied_at := clock_timestamp();
    if v_entry.outcome = 'applied' then
      v_review.version := nextval('item_version');
      v_review.updated_at := v_entry.applied_at;
      v_review.record := put_status(v_review.record, v_target, v_entry.status, v_entry.audit_time);
      update review_index set status = v_entry.status, audit_time = v_entry.audit_time, arrival = v_entry.arrival
       where review_id = p_id and kind = v_entry.kind and target_id = v_entry.target_id;
      perform announce_review(v_review, v_review.log_seq);
    end if;
    update review_callback
       set outcome = v_entry.outcome, reason = v_entry.reason, seq = v_review.log_seq, applied_at = v_entry.applied_at,
           before = to_jsonb(v_target.status), before_time = v_target.audit_time,
           after = to_jsonb(case when v_entry.outcome = 'applied' then v_entry.status else v_target.status end),
           version = case when v_entry.outcome = 'applied' then v_review.version end
     where review_callback.arrival = v_entry.arrival;
  end loop;
  if v_resolved > 0 then
    perform keep_review(v_review);
    perform log_review(p_id, v_logged);
  end if;
  return query select v_resolved, v_resolved = p_limit, v_review.version, next_change(p_id);
end $$;

-- The record with one target's new status.
create or replace function put_status(p_record jsonb, p_target review_index, p_status integer, p_time timestamptz)
returns jsonb language plpgsql immutable as $$
declare
  v_path text[] := case p_target.kind when 'text' then array['text']
                                      when 'picture' then array['pictures', p_target.position::text]
                                      else array['replies', p_target.position::text] end;
begin
  return jsonb_set(p_record, v_path,
                   (p_record #> v_path) || jsonb_build_object('status', p_status, 'auditTime', audit_text(p_time)));
end $$;

-- A review's base row, as its record gives it.
create or replace function base_of(r review) returns review_base language sql immutable as $$
  select r.id, (r.record #>> '{text,status}')::integer, jsonb_array_length(r.record -> 'pictures'),
         jsonb_array_length(r.record -> 'replies'), r.version, r.updated_at
$$;

-- Writes the record and the base row as they have become. What only its author changes stays as it is.
create or replace function keep_review(p_review review) returns void language plpgsql as $$
begin
  update review set record = p_review.record, version = p_review.version, log_seq = p_review.log_seq,
                    updated_at = p_review.updated_at
   where id = p_review.id;
  insert into review_base select b.* from base_of(p_review) b
  on conflict (review_id) do update set (status, pictures, replies, version, updated_at) = (
    excluded.status, excluded.pictures, excluded.replies, excluded.version, excluded.updated_at);
end $$;

-- Puts the lines of a review's log behind p_after into the feed as well (S4.8), in the transaction that wrote them
-- and under the review's lock, and counts them by day (S1.4).
create or replace function log_review(p_id text, p_after integer) returns void language plpgsql as $$
begin
  insert into event (kind, item_id, no, seq, type, actor, at, data)
  select 'review', p_id, r.seq, c.seq, c.outcome, c.actor, c.applied_at,
         json_build_object('kind', c.kind, 'targetId', nullif(c.target_id, ''), 'status', c.status,
                           'auditTime', audit_text(c.audit_time), 'callbackId', c.callback_id,
                           'reason', c.reason, 'before', c.before, 'after', c.after)
    from review r join review_callback c on c.review_id = r.id
   where r.id = p_id and c.seq > p_after order by c.seq;
  insert into tally_line (kind, queue, what, n)
  select 'review', to_char(applied_at at time zone 'UTC', 'YYYY-MM-DD'), outcome, count(*)
    from review_callback where review_id = p_id and seq > p_after group by 2, 3;
end $$;

-- The record as it was after a line of the log, 0 being its creation: from the record as it is, or as it was before the
-- next edit, each target with what it had before it was changed the first time since then.
create or replace function review_record(p_id text, p_seq bigint) returns jsonb language plpgsql stable as $$
declare
  v_record jsonb;
  v_edit integer;
  v_old jsonb;
begin
  select seq, before into v_edit, v_record from review_callback
   where review_id = p_id and kind = 'edit' and seq > p_seq order by seq limit 1;
  if not found then select record into v_record from review where id = p_id; end if;
  select jsonb_object_agg(s.kind || '/' || s.target_id, s.old) into v_old from (
    select distinct on (kind, target_id) kind, target_id,
                    jsonb_build_object('status', before, 'auditTime', audit_text(before_time)) as old
      from review_callback
     where review_id = p_id and outcome = 'applied' and seq > p_seq and (v_edit is null or seq < v_edit)
     order by kind, target_id, seq) s;
  if v_old is null then return v_record; end if;
  return jsonb_build_object(
    'text', (v_record -> 'text') || coalesce(v_old -> 'text/', '{}'),
    'pictures', (select coalesce(jsonb_agg(p.one || coalesce(v_old -> ('picture/' || (p.one ->> 'id')), '{}')
                                           order by p.n), '[]')
                   from jsonb_array_elements(v_record -> 'pictures') with ordinality as p (one, n)),
    'replies', (select coalesce(jsonb_agg(p.one || coalesce(v_old -> ('reply/' || (p.one ->> 'id')), '{}')
                                          order by p.n), '[]')
                  from jsonb_array_elements(v_record -> 'replies') with ordinality as p (one, n)));
end $$;

-- The oldest change that has not been delivered to the review's receiver.
create or replace function next_change(p_id text) returns integer language sql stable as $$
  select n from delivery where kind = 'review' and item_id = p_id and state = 'pending' order by n limit 1
$$;

-- Puts a change down for the review's receiver: it goes out later, in order, as the review is at this moment. What that
-- was follows from the log (`review_change` in db/queries/reviews.sql).
create or replace function announce_review(p_review review, p_seq integer) returns void language plpgsql as $$
begin
  if p_review.callback is null then return; end if;
  insert into delivery (kind, item_id, n, type, version, url, state)
  values ('review', p_review.id, p_seq, 'review.changed', p_review.version, p_review.callback ->> 'url', 'pending');
end $$;

-- Creates or edits a review (S1.9): what had come before is applied first, and what comes later waits, so
-- an edit has its place among the callbacks. A target that stays keeps its status and audit time. One that was removed
-- before, a picture also from another review, has the author's status and its last audit time.
-- p_targets  [{kind, id, position, status}]
-- No row: it has been erased
create or replace function put_review(
  p_id text, p_targets jsonb, p_body json, p_callback jsonb, p_actor text default 'anonymous'
) returns table (created boolean, now timestamptz) language plpgsql as $$
declare
  v_review review;
  v_before jsonb;
  v_created boolean;
begin
  insert into review (id, record) values (p_id, '{}') on conflict do nothing;
  v_created := found;
  while (select a.more from apply_review(p_id, 500) a) loop null; end loop;
  select * into v_review from review where id = p_id for no key update;
  -- cleared meanwhile by retention: once more, and it is made anew
  if not found then raise exception 'review % is gone', p_id using errcode = '40001'; end if;
  if v_review.erased then return; end if;
  v_before := v_review.record;
  v_review.updated_at := clock_timestamp();

  update review_index x set removed_at = v_review.updated_at
   where x.review_id = p_id and x.removed_at is null
     and not exists (select from jsonb_to_recordset(p_targets) as t (kind text, id text)
                      where t.kind = x.kind and t.id = x.target_id);
  insert into review_index as x (review_id, kind, target_id, position, status, audit_time)
  select p_id, t.kind, t.id, t.position, t.status, case when t.kind = 'picture' then (
           select max(e.audit_time) from review_index e where e.kind = 'picture' and e.target_id = t.id) end
    from jsonb_to_recordset(p_targets) as t (kind text, id text, position integer, status integer)
  on conflict (review_id, kind, target_id) do update
     set position = excluded.position,
         status = case when x.removed_at is null then x.status else excluded.status end,
         audit_time = case when x.removed_at is null then x.audit_time
                           else greatest(x.audit_time, excluded.audit_time) end,
         arrival = case when x.removed_at is null then x.arrival end,
         removed_at = null;

  -- of what has been put down until now some may not have been sent, or be sent again
  if v_review.body::text is distinct from p_body::text
    and exists (select from delivery where kind = 'review' and item_id = p_id) then
    insert into review_body (review_id, until_seq, body) values (p_id, v_review.log_seq, v_review.body);
  end if;
  update review set body = p_body, callback = p_callback where id = p_id;
  v_review.body := null;
  v_review.record := record_of_index(p_id);
  v_review.callback := p_callback;
  if v_created then
    -- the log begins with what comes later, so this line has the number before
    insert into event (kind, item_id, no, seq, type, actor, at, data)
    values ('review', p_id, v_review.seq, 0, 'created', p_actor, v_review.updated_at,
            json_build_object('kind', null, 'targetId', null, 'status', null, 'auditTime', null,
                              'callbackId', null, 'reason', null, 'before', null, 'after', v_review.record));
  else
    v_review.version := nextval('item_version');
    v_review.log_seq := v_review.log_seq + 1;
    insert into review_callback (review_id, kind, received_at, applied_at, outcome, seq, before, after, version, actor)
    values (p_id, 'edit', v_review.updated_at, v_review.updated_at, 'edited', v_review.log_seq, v_before,
            v_review.record, v_review.version, p_actor);
    perform log_review(p_id, v_review.log_seq - 1);
    perform announce_review(v_review, v_review.log_seq);
  end if;
  perform keep_review(v_review);
  return query select v_created, v_review.updated_at;
end $$;

create or replace function record_of_index(p_id text) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'text', (array_agg(t.place) filter (where t.kind = 'text'))[1] - 'id',
    'pictures', coalesce(jsonb_agg(t.place order by t.position) filter (where t.kind = 'picture'), '[]'),
    'replies', coalesce(jsonb_agg(t.place order by t.position) filter (where t.kind = 'reply'), '[]'))
    from (select kind, position,
                 jsonb_build_object('id', target_id, 'status', status, 'auditTime', audit_text(audit_time)) as place
            from review_index where review_id = p_id and removed_at is null) t
$$;

-- Whether a decision may end an item whose callback leads into a review: it must hold a status.
create or replace function fits_review(p_callback jsonb, p_result json) returns boolean language sql immutable
  return case when p_callback is null or not p_callback ? 'review' then true
              when json_typeof(p_result -> 'status') <> 'number' then false
              else coalesce(abs((p_result ->> 'status')::numeric) <= 2147483647
                            and (p_result ->> 'status')::numeric = trunc((p_result ->> 'status')::numeric), false) end;
