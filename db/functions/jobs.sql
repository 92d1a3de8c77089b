-- Pops the first jobs over all given topics, by (priority, number), one for each token (S3.1, S3.8). What is due
-- in the topics is done first; of a crowd that is due at once a job counts as ready before its clock has run.
-- It depends neither on the caller nor on what the caller holds, so it is one step. Where other calls have locked some
-- of the first jobs, it looks further.
-- Its plans are made once, because planning each call anew for its limit takes longer than the call. So they must fit a
-- table that has grown since.
-- p_max_bytes  longer bodies are not offered (beanstalkd's protocol); null: any
-- p_floor      {priority, number}: no job of the one topic that was ready from the beginning and has that priority has
--              this number or a lower one; null: not known
create or replace function pop_jobs(
  p_topics text[], p_tokens text[], p_holders text[], p_max_bytes integer, p_floor bigint[]
) returns setof item language plpgsql as $$
declare
  -- not a literal, by which a planner without statistics would take the index of all jobs
  v_job text := 'job';
  v_now timestamptz := clock_timestamp();
  v_topics text[];
  v_due boolean;
  v_first text[];
  v_ids text[];
  v_count integer := cardinality(p_tokens);
  v_depth integer := v_count;
begin
  select array_agg(name) into v_topics from queue
   where kind = 'job' and name = any (p_topics) and not paused and (paused_until is null or paused_until <= v_now);
  if v_topics is null then return; end if;
  if is_due(v_job, v_topics, case when p_floor is null then interval '1 minute' else '1 second' end) then
    return query select * from advance_due(v_job, v_topics);
  end if;
  v_due := exists (select 1 from unnest(v_topics) as t (queue) cross join lateral (
    select 1 from item
     where kind = v_job and queue = t.queue and state = 'delayed' and available_at <= v_now limit 1) d);
  if cardinality(v_topics) = 1 and not v_due and p_floor is null then
    with locked as materialized (
      select id, rank, seq from item
       where kind = v_job and queue = v_topics[1] and state = 'ready' and requires_key = ''
         and (p_max_bytes is null or body_bytes <= p_max_bytes) and (deadline_at is null or deadline_at > v_now)
       order by rank, seq limit v_count for update skip locked)
    select array_agg(id order by rank, seq) into v_ids from locked;
  else
    loop
      v_first := case when cardinality(v_topics) = 1 and not v_due
                        then first_jobs_behind(v_topics[1], v_depth, p_max_bytes, p_floor)
                      else first_jobs(v_topics, v_depth, p_max_bytes) end;
      -- one after the other: no more are locked than are asked for, and each is found by its id
      with locked as materialized (
        select l.* from unnest(v_first) as f (id) cross join lateral (
          select i.id, i.rank, i.seq from item i
           where i.kind = v_job and i.id = f.id
             and (i.state = 'ready' or i.state = 'delayed' and i.available_at <= v_now)
          offset 0 for update skip locked) l
         limit v_count)
      select array_agg(id order by rank, seq) into v_ids from locked;
      exit when coalesce(cardinality(v_ids), 0) >= v_count or coalesce(cardinality(v_first), 0) < v_depth
        or v_depth > 4096;
      v_depth := v_depth * 4 + 16;
    end loop;
  end if;
  if v_ids is null then return; end if;

  v_now := clock_timestamp();
  -- The rows are locked, so their state is not tested again: without statistics, a planner that sees the test would use
  -- a partial index of all ready jobs.
  return query
    update item i
       set state = 'held', lease_id = s.token, holder = s.holder, granted_at = v_now,
           expires_at = v_now + make_interval(secs => i.lease_seconds),
           attempts = i.attempts + 1, event_seq = i.event_seq + 1, last_event = 'reserved', last_actor = s.holder,
           last_data = json_build_object('attempt', i.attempts + 1)
      from unnest(v_ids, p_tokens, p_holders) as s (id, token, holder)
     where i.kind = v_job and i.id = s.id
    returning i.*;
end $$;

-- The first jobs over all given topics, due ones among them.
create or replace function first_jobs(p_topics text[], p_count integer, p_max_bytes integer) returns text[]
language plpgsql as $$
declare
  v_job text := 'job';
  v_now timestamptz := clock_timestamp();
begin
  return (
    select array_agg(h.id order by h.rank, h.seq) from (
      select l.* from unnest(p_topics) as t (queue) cross join lateral (
        (select i.id, i.rank, i.seq from item i
          where i.kind = v_job and i.queue = t.queue and i.state = 'ready' and i.requires_key = ''
            and (p_max_bytes is null or i.body_bytes <= p_max_bytes)
            and (i.deadline_at is null or i.deadline_at > v_now)
          order by i.rank, i.seq limit p_count)
        union all
        -- of a crowd that is due at once the longest due: more than the clock takes in one step
        (select i.id, i.rank, i.seq from item i
          where i.kind = v_job and i.queue = t.queue and i.state = 'delayed' and i.available_at <= v_now
            and (p_max_bytes is null or i.body_bytes <= p_max_bytes)
            and (i.deadline_at is null or i.deadline_at > v_now)
          order by i.available_at limit greatest(p_count, 2000))) l
       order by l.rank, l.seq limit p_count) h);
end $$;

-- The first jobs of a topic whose floor is known: those that became ready again, and of the others only those after the
-- floor. The conditions of the first part match its partial index and no other.
create or replace function first_jobs_behind(p_topic text, p_count integer, p_max_bytes integer, p_floor bigint[])
returns text[] language plpgsql as $$
declare
  v_job text := 'job';
  v_now timestamptz := clock_timestamp();
begin
  return (
    select array_agg(h.id order by h.rank, h.seq) from (
      select l.* from (
        (select i.id, i.rank, i.seq from item i
          where i.kind || '' = 'job' and i.queue = p_topic and i.state || '' = 'ready' and i.event_seq > 1
            and i.requires_key = '' and (p_max_bytes is null or i.body_bytes <= p_max_bytes)
            and (i.deadline_at is null or i.deadline_at > v_now)
          order by i.rank, i.seq limit p_count)
        union all
        (select i.id, i.rank, i.seq from item i
          where i.kind = v_job and i.queue = p_topic and i.state = 'ready' and i.event_seq = 1 and i.requires_key = ''
            and i.rank < p_floor[1] and (p_max_bytes is null or i.body_bytes <= p_max_bytes)
            and (i.deadline_at is null or i.deadline_at > v_now)
          order by i.rank, i.seq limit p_count)
        union all
        (select i.id, i.rank, i.seq from item i
          where i.kind = v_job and i.queue = p_topic and i.state = 'ready' and i.event_seq = 1 and i.requires_key = ''
            and (i.rank, i.seq) > (p_floor[1], p_floor[2]) and (p_max_bytes is null or i.body_bytes <= p_max_bytes)
            and (i.deadline_at is null or i.deadline_at > v_now)
          order by i.rank, i.seq limit p_count)) l
       order by l.rank, l.seq limit p_count) h);
end $$;

-- Finishes jobs. With a token: only that reservation, while it is live. Without one: in any open state, ending whatever
-- reservation is current (S3.1, S3.3). Planned once, as a pop is.
-- p_actors  who finishes it without a token
-- p_next    the tokens of what is asked for with it; null: nothing is
create or replace function finish_jobs(
  p_ids text[], p_tokens text[], p_actors text[], p_next text[] default null
) returns setof item language plpgsql as $$
declare
  -- not a literal: where statistics know of no job, a planner would go through all jobs for those few
  v_job text := 'job';
begin
  return query
    update item i
       set state = 'settled', result = 'null', settled_token = token_hash(s.token), end_reason = null, next_id = s.next,
           event_seq = i.event_seq + 1, last_event = 'finished',
           last_actor = case when s.token is null then s.actor else i.holder end, last_data = null
      from unnest(p_ids, p_tokens, p_actors, p_next) as s (id, token, actor, next)
     where i.kind = v_job and i.id = s.id and i.ended_at is null
       and (s.token is null or (i.state = 'held' and i.lease_id = s.token and i.expires_at > clock_timestamp()))
    returning i.*;
end $$;

-- Finishes reservations, and pops one job for each that it finished, by the same commit.
-- p_topics  in which; null: each in the topic of its own job
-- p_next    the tokens of what is popped, also later, by who waits
create or replace function finish_next(
  p_ids text[], p_tokens text[], p_topics text[], p_next text[], p_holders text[]
) returns setof item language plpgsql as $$
declare
  i item;
  v_done item[] := '{}';
  v_topics text[];
begin
  for i in select * from finish_jobs(p_ids, p_tokens, p_holders, p_next) loop
    v_done := v_done || i;
    return next i;
  end loop;
  for v_topics in select distinct coalesce(p_topics, array[d.queue]) from unnest(v_done) d loop
    return query select p.* from (
      select array_agg(s.next) as tokens, array_agg(s.holder) as holders
        from unnest(p_ids, p_next, p_holders) as s (id, next, holder) join unnest(v_done) d on d.id = s.id
       where v_topics = coalesce(p_topics, array[d.queue])) n
     cross join lateral pop_jobs(v_topics, n.tokens, n.holders, null, null) p;
  end loop;
end $$;

-- Pops for a push target, never letting more than p_limit of a topic's jobs be with it at once.
create or replace function pop_to_push(p_topic text, p_tokens text[], p_limit integer) returns setof item
language plpgsql as $$
declare
  v_slots integer;
begin
  perform pg_advisory_xact_lock(hashtextextended('push' || chr(31) || p_topic, 0));
  select least(cardinality(p_tokens), p_limit - count(*)) into v_slots from item
   where kind = 'job' and queue = p_topic and state = 'held' and holder = 'push' and expires_at > clock_timestamp();
  if v_slots <= 0 then return; end if;
  return query select * from pop_jobs(
    array[p_topic], p_tokens[1:v_slots], array_fill('push'::text, array[v_slots]), null, null);
end $$;

-- Draws a number for an item that is to be named `queue:number`, passing over those whose name is in use.
create or replace function free_number(p_kind text, p_queue text) returns bigint language plpgsql as $$
declare
  v_number bigint;
begin
  loop
    v_number := nextval('item_seq_seq');
    if not exists (select from item where kind = p_kind and id = p_queue || ':' || v_number) then
      return v_number;
    end if;
  end loop;
end $$;
