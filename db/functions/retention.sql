-- What retention clears (docs/operations.md, Retention): what has been over for longer than it is to be kept.

-- Whether an item is over for good: its workflow has received its last event, its deliveries have ended, and nothing
-- that counts would be forgotten with it.
-- p_to  all lines of the log up to this number have been published
create or replace function is_done(i item, p_to bigint) returns boolean language sql stable as $$
  select i.ended_at is not null and not i.delivery_pending
     and not exists (
       select from event e
        where e.kind = i.kind and e.item_id = i.id and e.seq = i.event_seq and e.id > coalesce(p_to, 0))
     and nothing_pends(i.kind, i.id) and not has_open_look(i)
     -- what is told of a look shows it
     and (i.look -> 'of' is null or not exists (
       select from delivery d where d.kind = i.kind and d.item_id = i.look #>> '{of,id}' and d.state = 'pending'))
     -- what its jurors were shown counts in their windows
     and (i.kind <> 'case' or not exists (
       select from court
        where name = i.queue and i.ended_at > clock_timestamp() - make_interval(secs => window_seconds)))
$$;

-- The same of a review, which is over whenever nothing of it is under way.
create or replace function is_quiet(r review) returns boolean language sql stable as $$
  select not exists (select from review_callback c where c.review_id = r.id and c.outcome = 'pending')
     and not exists (select from review_callback c
                      where c.review_id = r.id and c.seq is not null
                        and c.arrival > (select min(reviews) from log_shard))
     and nothing_pends('review', r.id)
$$;

create or replace function nothing_pends(p_kind text, p_id text) returns boolean language sql stable as $$
  select not exists (select from unpublished where kind = p_kind and item_id = p_id)
     and not exists (select from parked where kind = p_kind and item_id = p_id)
     and not exists (select from delivery where kind = p_kind and item_id = p_id and state = 'pending')
     and not exists (select from wait where kind = p_kind and item_id = p_id)
$$;

-- How far the slowest lane of any part of the log has been published.
create or replace function published_to() returns bigint language sql stable as $$
  select min(least(outcomes, rest, idle)) from log_shard
$$;

-- Clears items that are done, with all that belongs to them. Their ids are forgotten, too.
-- p_seqs  how far the log of each had come when it was archived: one that has gone on is left; null: however far
-- Returns how many.
create or replace function forget_items(p_kind text, p_ids text[], p_seqs integer[] default null) returns integer
language plpgsql as $$
declare
  v_ids text[];
begin
  perform from item where kind = p_kind and id = any (p_ids) order by id for update;
  -- a delivery may have been sent again since they were chosen; such a call locks nothing else (reopen_delivery)
  perform from delivery where kind = p_kind and item_id = any (p_ids) order by item_id, n for update;
  v_ids := array(select i.id from unnest(p_ids, p_seqs) as s (id, seq) join item i on i.kind = p_kind and i.id = s.id
                  where is_done(i, published_to()) and (s.seq is null or i.event_seq = s.seq));
  perform forget_log(p_kind, v_ids);
  -- kinds are named, because the indexes of leases are of one each
  if p_kind = 'case' then
    delete from exposure e using lease l
     where l.kind = 'case' and l.item_id = any (v_ids) and e.court = l.queue and e.person = l.slot
       and e.case_id = l.item_id;
    delete from vote where case_id = any (v_ids);
    delete from case_file where id = any (v_ids);
    delete from lease where kind = 'case' and item_id = any (v_ids);
  elsif p_kind = 'task' then
    delete from lease where kind = 'task' and item_id = any (v_ids);
  elsif p_kind = 'ticket' then
    delete from suggestion where item_id = any (v_ids);
    delete from ticket_text where id = any (v_ids);
  elsif p_kind = 'job' then
    delete from job_run where id = any (v_ids);
    delete from job_key where id = any (v_ids);
  end if;
  perform forget_rows(p_kind, v_ids);
  return cardinality(v_ids);
end $$;

-- The same of reviews; p_seqs are the last lines of their logs.
create or replace function forget_reviews(p_ids text[], p_seqs integer[]) returns integer language plpgsql as $$
declare
  v_ids text[];
begin
  perform from review where id = any (p_ids) order by id for update;
  perform from delivery where kind = 'review' and item_id = any (p_ids) order by item_id, n for update;
  v_ids := array(select r.id from unnest(p_ids, p_seqs) as s (id, seq) join review r on r.id = s.id
                  where is_quiet(r) and (s.seq is null or r.log_seq = s.seq));
  perform forget_log('review', v_ids);
  -- none is pending, and all others have a number, as the index asks
  delete from review_callback where review_id = any (v_ids) and seq is not null;
  delete from review_index where review_id = any (v_ids);
  delete from review_body where review_id = any (v_ids);
  delete from review_base where review_id = any (v_ids);
  delete from review where id = any (v_ids);
  return cardinality(v_ids);
end $$;

-- Clears tasks of which no occurrence is left, now or to come; p_seqs are their revisions. What changes them locks the
-- rotation first, too.
create or replace function forget_tasks(p_ids text[], p_seqs integer[]) returns integer language plpgsql as $$
declare
  v_ids text[];
begin
  perform from item where kind = 'rotation' and id = any (p_ids) order by id for update;
  perform from task where id = any (p_ids) order by id for update;
  v_ids := array(select t.id from unnest(p_ids, p_seqs) as s (id, seq) join task t on t.id = s.id
                  where is_over(t, 'infinity') and (s.seq is null or t.revision = s.seq));
  perform forget_log('rotation', v_ids);
  perform forget_rows('rotation', v_ids);
  delete from task where id = any (v_ids);
  return cardinality(v_ids);
end $$;

create or replace function is_over(t task, p_before timestamptz) returns boolean language sql stable as $$
  select t.start_time < p_before and t.updated_at < p_before
     and (t.type = 'once' or not exists (
       select from item r where r.kind = 'rotation' and r.id = t.id
          and (r.ended_at is null or r.ended_at >= p_before or not is_done(r, published_to()))))
     and not exists (select from item o where o.kind = 'task' and o.id > t.id || '/' and o.id < t.id || '0')
$$;

-- p_to  for each the number of the last line that goes; null: all go
create or replace function forget_log(p_kind text, p_ids text[], p_to integer[] default null) returns void
language plpgsql as $$
declare
  v_events bigint[];
begin
  -- the sequencer's lock (db/functions/feed.sql): it must not give a position to what is being cleared
  perform pg_advisory_xact_lock(7236003);
  with gone as (
    delete from event e using unnest(p_ids, p_to) as s (id, upto)
     where e.kind = p_kind and e.item_id = s.id and (s.upto is null or e.seq <= s.upto) returning e.id)
  select array_agg(id) into v_events from gone;
  delete from feed where event_id = any (v_events);
  delete from delivery where kind = p_kind and item_id = any (p_ids);
end $$;

create or replace function forget_rows(p_kind text, p_ids text[]) returns void language plpgsql as $$
begin
  insert into tally_line (kind, queue, what, n)
  select kind, queue, state, -count(*) from item
   where kind = p_kind and id = any (p_ids) and not is_gold(look) group by kind, queue, state;
  delete from item where kind = p_kind and id = any (p_ids);
end $$;

-- The history of an item or review for the archive, as the API shows it.
-- p_after, p_to  only the lines of these numbers, the first one excluded
create or replace function archived_events(
  p_kind text, p_id text, p_after integer default -1, p_to integer default null
) returns json language sql stable as $$
  select coalesce(json_agg(json_build_object('seq', seq, 'type', type, 'actor', actor, 'at', iso_time(at), 'data', data)
                           order by seq), '[]')
    from event where kind = p_kind and item_id = p_id and seq > p_after and (p_to is null or seq <= p_to)
$$;

create or replace function archived_deliveries(p_kind text, p_id text) returns json language sql stable as $$
  select coalesce(json_agg(json_build_object(
           'n', n, 'type', type, 'version', version, 'url', url, 'state', state, 'attempts', attempts, 'status', status,
           'error', error, 'createdAt', iso_time(created_at), 'updatedAt', iso_time(updated_at)) order by n), '[]')
    from delivery where kind = p_kind and item_id = p_id
$$;
