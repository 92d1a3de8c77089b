-- The time that figures are asked for: the last day, where no other is named.
create or replace function time_range(p_from timestamptz, p_to timestamptz)
returns table (since timestamptz, until timestamptz) language sql volatile as $$
  select coalesce(p_from, u.until - interval '1 day'), u.until
    from (select coalesce(p_to, clock_timestamp()) as until) u
$$;

-- The counts of a queue as they are now, from its range of the tally.
create or replace function counts_of(p_kind text, p_queue text) returns table (
  delayed bigint, ready bigint, held bigint, buried bigint, settled bigint, invalidated bigint, expired bigint,
  dead bigint, granted bigint, lease_expired bigint, votes bigint, wasted bigint, failed bigint
) language sql stable as $$
  select coalesce(sum(n) filter (where what = 'delayed'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'ready'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'held'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'buried'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'settled'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'invalidated'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'expired'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'dead'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'granted' or what = 'held' and at is not null), 0)::bigint,
         coalesce(sum(n) filter (where what = 'lease_expired'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'votes'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'wasted'), 0)::bigint,
         coalesce(sum(n) filter (where what = 'delivery_failed'), 0)::bigint
    from tally where kind = p_kind and queue = p_queue
$$;

-- Writes a row for each queue of sample_due that has changed since its last one, and from these one for all queues of
-- the kind; it also sets the length of their leases. It runs once a minute, in one process, for at most p_limit queues,
-- those due the longest first. So when more queues than that change all the time, their figures are coarser; a queue
-- that does not change costs nothing.
create or replace function sample_queues(p_limit integer) returns integer language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_kinds text[];
  v_queues text[];
  v_rows integer;
begin
  if exists (select from sample_state where sampled_at >= date_trunc('minute', v_now))
     or not pg_try_advisory_xact_lock(7236004) then return 0; end if;
  update sample_state set sampled_at = v_now where sampled_at < date_trunc('minute', v_now);
  if not found then return 0; end if;
  -- before the counts are read: what changes after that is due again
  with taken as (
    delete from sample_due d using (select kind, queue from sample_due order by since limit p_limit) o
     where d.kind = o.kind and d.queue = o.queue returning d.kind, d.queue)
  select array_agg(kind), array_agg(queue) into v_kinds, v_queues from taken;
  with due as materialized (
    select d.kind, d.queue, c as new, l as old
      from unnest(v_kinds, v_queues) as d (kind, queue)
     cross join lateral (select * from counts_of(d.kind, d.queue)) c
      left join lateral (
        select delayed, ready, held, buried, settled, invalidated, expired, dead, granted, lease_expired,
               votes, wasted, failed
          from sample s where s.kind = d.kind and s.queue = d.queue order by s.at desc limit 1) l on true
     where c is distinct from l
  ), written as (
    insert into sample
    select kind, queue, v_now, (new).*,
           (select min(i.first_available_at)
              from item i where i.kind = d.kind and i.queue = d.queue and i.state = 'ready' and not is_gold(i.look))
      from due d
    returning 1
  ), sums as (
    -- what all queues had at last, plus what these have now, less what these had
    select p.kind, e.key, sum(p.sign * e.value::bigint) as n
      from (select kind, 1 as sign, to_jsonb(new) as counts from due union all
            select kind, -1, to_jsonb(old) from due union all
            select k.kind, 1, to_jsonb(l) - '{kind,queue,at,oldest}'::text[]
              from (select distinct kind from due) k cross join lateral (
                select * from sample s where s.kind = k.kind and s.queue = '' order by s.at desc limit 1) l) p
     cross join jsonb_each_text(p.counts) e
     group by p.kind, e.key
  ), together as (
    insert into sample
    select r.* from (select kind, jsonb_object_agg(key, n) as counts from sums group by kind) s
     cross join jsonb_populate_record(null::sample, s.counts || jsonb_build_object(
                                                      'kind', s.kind, 'queue', '', 'at', v_now)) r
  )
  select count(*) into v_rows from written;
  perform adapt_leases(v_queues);
  perform thin_samples();
  return v_rows;
end $$;

-- Thins the samples of one hour: after two days a queue keeps the hour's last row, after 30 days only its newest row,
-- which holds the current counts.
create or replace function thin_samples() returns void language plpgsql as $$
declare
  v_from timestamptz;
  v_to timestamptz;
begin
  select thinned_until, thinned_until + interval '1 hour' into v_from, v_to from sample_state;
  if v_to > clock_timestamp() - interval '2 days' then return; end if;
  update sample_state set thinned_until = v_to;
  delete from sample s
   where s.at >= v_from and s.at < v_to
     and exists (select from sample l where l.kind = s.kind and l.queue = s.queue and l.at > s.at and l.at < v_to);
  delete from sample s
   where s.at < v_from - interval '28 days'
     and exists (select from sample l where l.kind = s.kind and l.queue = s.queue and l.at > s.at);
end $$;

-- Open tickets of a queue beyond its target, without gold, counted up to 1,000; 0 where it has none.
create or replace function overdue_tickets(p_queue text, p_service_seconds double precision) returns integer
language sql stable as $$
  select count(*)::integer from (
    select from item where queue = p_queue and overdue_at = 'infinity' and ended_at is null
       and first_available_at <= clock_timestamp() - make_interval(secs => p_service_seconds)
       and not coalesce(look ? 'gold', false) limit 1000) o
$$;

-- The length of leases in those of these queues where it is adaptive (S0.7): twice the 95th percentile of the time from
-- the hand-out to the decision by its holder, of the newest 500 tickets that people decided within a week, if these are
-- 20 at least. It is between a quarter of the queue's own time and twice that.
create or replace function adapt_leases(p_queues text[]) returns void language plpgsql as $$
begin
  update queue q set adaptive_seconds = a.seconds
    from queue k cross join lateral (
      select case when count(*) >= 20 then
               greatest(k.lease_seconds / 4, least(k.lease_seconds * 2, ceil(20 * percentile_cont(0.95)
                 within group (order by extract(epoch from e.at - g.at))) / 10)) end as seconds
        from (select id, event_seq, ended_by from item i
               where i.kind = 'ticket' and i.queue = k.name and i.state = 'settled'
                 and i.ended_at > clock_timestamp() - interval '1 week' and i.ended_by not like 'model:%'
               order by i.created_at desc, i.seq desc limit 500) i
        join event e on e.kind = 'ticket' and e.item_id = i.id and e.type = 'decided'
        join event g on g.kind = 'ticket' and g.item_id = i.id and g.seq = e.ends and g.actor = i.ended_by) a
   where k.kind = 'ticket' and k.name = any (p_queues) and k.lease = 'adaptive'
     -- by the last, too: else all queues may be read for each
     and q.kind = k.kind and q.name = k.name and q.lease = k.lease and q.adaptive_seconds is distinct from a.seconds;
end $$;
