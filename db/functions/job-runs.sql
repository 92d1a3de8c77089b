-- The runs of jobs' ids (docs/decisions/0029-runs-of-a-job.md): the row is the newest run; of those before it the log
-- has the events, and `job_run` what else is asked for.

-- Begins the next runs of jobs that are over, and notes the keys of adds that meet a run (S3.1, S3.2).
create or replace function begin_runs(p_jobs json) returns setof item language plpgsql as $$
declare
  x record;
  i item;
begin
  for x in
    select * from json_to_recordset(p_jobs) as s (
      id text, key text, queue text, priority bigint, body json, hash text, "delaySeconds" double precision,
      "leaseSeconds" double precision, "bodyBytes" integer, actor text)
     order by id
  loop
    select * into i from item where kind = 'job' and id = x.id for update;
    -- asked under the lock: a key that is known stands for its run, whatever has become of that
    continue when not found or i.erased or exists (select from job_key where id = x.id and key = x.key);
    if i.ended_at is null then
      insert into job_key (id, key, run) select x.id, x.key, i.run
       where x.key is not null and i.content_hash = decode(x.hash, 'hex');
      continue;
    end if;
    continue when is_spent(i.queue, x.queue);
    insert into job_key (id, key, run) select x.id, x.key, i.run + 1 where x.key is not null;
    insert into job_run (number, id, run, queue, ended_at, last_seq, settled_token, next_id, record)
    values (i.seq, i.id, i.run, i.queue, i.ended_at, i.event_seq, i.settled_token, i.next_id,
      -- for the archive, without its events
      json_build_object(
        'kind', 'job', 'id', i.id, 'run', i.run, 'queue', i.queue, 'state', end_event('job', i.state),
        'priority', i.priority, 'body', i.body, 'attempts', i.attempts, 'createdAt', iso_time(i.created_at),
        'availableAt', iso_time(i.available_at), 'endedAt', iso_time(i.ended_at), 'endedBy', i.ended_by));
    delete from parked where kind = 'job' and item_id = i.id;
    return query
      update item
         set seq = nextval('item_seq_seq'), run = i.run + 1, queue = x.queue, state = t.state, priority = x.priority,
             base_priority = x.priority, rank = x.priority, body = coalesce(x.body, 'null'),
             content_hash = decode(x.hash, 'hex'), attempts = 0, created_at = date_trunc('milliseconds', t.now),
             available_at = t.due_at, first_available_at = t.due_at,
             lease_seconds = x."leaseSeconds", delay_seconds = x."delaySeconds", body_bytes = x."bodyBytes",
             result = null, settled_token = null, next_id = null, end_reason = null,
             event_seq = i.event_seq + 1, last_event = 'created', last_actor = x.actor,
             last_data = json_build_object('queue', x.queue, 'priority', x.priority, 'run', i.run + 1)
        from (select now, now + make_interval(secs => x."delaySeconds") as due_at,
                     case when x."delaySeconds" > 0 then 'delayed' else 'ready' end as state
                from (select greatest(clock_timestamp(), i.ended_at) as now) c) t
       where kind = 'job' and id = x.id
      returning item.*;
  end loop;
end $$;

-- Whether an id that was used in one of these topics stays used.
create or replace function is_spent(p_before text, p_now text) returns boolean language sql stable as $$
  select exists (select from queue where kind = 'job' and name in (p_before, p_now) and ids = 'once')
$$;

-- Whether a job's id has begun anew since this version, so that an operator's command means an earlier run. Its row
-- stays locked, so that none begins meanwhile.
create or replace function has_begun_since(p_id text, p_version bigint) returns boolean language plpgsql as $$
begin
  perform from item where kind = 'job' and id = p_id for update;
  return exists (
    select from event where kind = 'job' and item_id = p_id and type = 'created' and version > p_version);
end $$;

-- Clears earlier runs, by their numbers. Returns how many.
create or replace function forget_runs(p_numbers bigint[]) returns integer language plpgsql as $$
declare
  v_ids text[];
  v_last integer[];
begin
  perform from item
    where kind = 'job' and id in (select id from job_run where number = any (p_numbers)) order by id for update;
  with gone as (delete from job_run where number = any (p_numbers) returning id, run, last_seq),
       keys as (delete from job_key k using gone g where k.id = g.id and k.run = g.run)
  select array_agg(id), array_agg(last_seq) into v_ids, v_last from gone;
  perform forget_log('job', v_ids, v_last);
  return coalesce(cardinality(v_ids), 0);
end $$;
