-- Figures over time. They run on the lists' connections.

-- name: queue_samples
-- Counts of a queue (:queue empty: of all queues of the kind) at the end of each step, and before the first: each is
-- the newest row that is not younger, so a step costs one index probe. One row more than :limit + 1 means that there
-- are more steps.
with t as (
  select s.since as "since!", s.until as "until!",
         coalesce(:step?::double precision,
           greatest(60, ceil(extract(epoch from s.until - s.since) / 288 / 60) * 60)::double precision) as "step!"
    from time_range(:from?, :to?) s)
select t.since, t.until, t.step, g.n as "n!", b.end >= (select began_at from sample_state) as "known!", s.*
  from t
 cross join lateral generate_series(
   0, greatest(-1, least(:limit + 1, ceil(extract(epoch from t.until - t.since) / t.step)))::integer) as g (n)
 cross join lateral (select least(t.until, t.since + make_interval(secs => g.n * t.step)) as end) b
  left join lateral (
    select delayed, ready, held, buried, settled, invalidated, expired, dead,
           granted, lease_expired, votes, wasted, failed,
           extract(epoch from b.end - oldest)::double precision as oldest_seconds
      from sample where kind = :kind and queue = :queue and at <= b.end order by at desc limit 1) s on true
 order by g.n;

-- name: reviewer_figures
-- Results of reviewers' leases, by the newest :lines events of all kinds in that time; `covered`: since when, null:
-- all. A lease belongs to the holder named by the line that granted it. :queue? and :person?: of these only.
with t as materialized (select since as "since!", until as "until!" from time_range(:from?, :to?)),
line as materialized (
  select e.* from t cross join lateral events_between(t.since, t.until, :lines) e
), ended as (
  select g.actor as person, l.type, l.actor, l.data ->> 'unseen' is not null as unseen, l.at - g.at as held
    from line l cross join t
    join event g on g.kind = l.kind and g.item_id = l.item_id and g.seq = l.ends
    join item i on i.kind = l.kind and i.id = l.item_id
   where l.kind = 'ticket' and l.at >= t.since and l.at < t.until
     and (:queue?::text is null or i.queue = :queue) and (:person?::text is null or g.actor = :person)
     and (:gold::boolean or not is_gold(i.look))
)
select t.since, t.until,
       case when (select count(*) from line) = :lines then (select min(at) from line) end as covered, p.*
  from t left join lateral (
    select person, count(*) filter (where type = 'decided' and actor = person)::integer as "decisions!",
           percentile_cont(0.5) within group (order by extract(epoch from held))
             filter (where type = 'decided' and actor = person)
             as median_seconds,
           count(*) filter (where type = 'skipped')::integer as "skips!",
           count(*) filter (where type = 'released' and actor = person and not unseen)::integer as "releases!",
           count(*) filter (where lease_end(type, actor, person) = 'expired')::integer as "expiries!"
      from ended group by person order by 2 desc, 1 limit :limit) p on true;

-- name: juror_figures
-- Results of a court's jurors: its newest :lines votes in that time, and as many wasted votes. `judged` leaves out
-- gold: it counts votes on decided cases.
with t as materialized (select since as "since!", until as "until!" from time_range(:from?, :to?)),
cast_votes as materialized (
  select v.* from t cross join lateral (
    select * from vote where court = :court and at >= t.since and at < t.until order by at desc limit :lines) v
), refused as materialized (
  select l.* from t cross join lateral (
    select holder, refused_at from lease
     where kind = 'case' and queue = :court and refused_at >= t.since and refused_at < t.until
     order by refused_at desc limit :lines) l
), judged as (
  select v.juror as person, v.counted, f.gold is not null as gold, v.option = coalesce(f.gold, f.winner) as agreed,
         extract(epoch from v.at - l.granted_at) as seconds, 0 as wasted
    from cast_votes v join case_file f on f.id = v.case_id left join lease l on l.token = v.token
   union all
  select holder, false, false, null, null, 1 from refused
)
select t.since, t.until,
       greatest(case when (select count(*) from cast_votes) = :lines then (select min(at) from cast_votes) end,
                case when (select count(*) from refused) = :lines then (select min(refused_at) from refused) end)
         as covered, p.*
  from t left join lateral (
    select person, count(*) filter (where counted and not gold)::integer as "votes!", sum(wasted)::integer as "wasted!",
           percentile_cont(0.5) within group (order by seconds) as median_seconds,
           count(agreed) filter (where not gold)::integer as "judged!",
           count(*) filter (where agreed and not gold)::integer as "agreed!",
           count(*) filter (where gold)::integer as "gold_judged!",
           count(*) filter (where agreed and gold)::integer as "gold_agreed!"
      from judged where :person?::text is null or person = :person
     group by person order by 2 desc, 1 limit :limit) p on true;

-- name: handout_lateness
-- The time from an item's availability to its first claim, by the newest :lines events in that time: counts between the
-- bounds, one more than there are bounds.
with t as materialized (select since as "since!", until as "until!" from time_range(:from?, :to?)),
line as materialized (
  select e.* from t cross join lateral events_between(t.since, t.until, :lines) e
), late as materialized (
  select greatest(0, extract(epoch from l.at - i.first_available_at))::double precision as seconds
    from line l cross join t join item i on i.kind = l.kind and i.id = l.item_id
   where l.kind = :kind and l.type in ('claimed', 'reserved') and l.token is not null
     and l.at >= t.since and l.at < t.until
     and (:queue?::text is null or i.queue = :queue) and not is_gold(i.look)
     and not exists (
       select from event g where g.kind = l.kind and g.item_id = l.item_id and g.seq < l.seq and g.token is not null)
)
select t.since, t.until, case when (select count(*) from line) = :lines then (select min(at) from line) end as covered,
       array(select (select count(*) from late where width_bucket(seconds, :bounds::double precision[]) = b.n)::integer
               from generate_series(0, cardinality(:bounds::double precision[])) as b (n) order by b.n) as "counts!",
       (select count(*)::integer from late) as "n!",
       (select percentile_cont(0.5) within group (order by seconds) from late) as p50,
       (select percentile_cont(0.99) within group (order by seconds) from late) as p99,
       (select max(seconds) from late) as max
  from t;

-- name: service_figures
-- The time from the first availability of a queue's tickets that were decided in that time to their first and last
-- hand-out and to the decision: of all (`hour` null), then by the hour of the decision. Gold does not count.
with t as materialized (select since as "since!", until as "until!" from time_range(:from?, :to?)),
decided as materialized (
  select i.ended_at, extract(epoch from i.ended_at - i.first_available_at) as decided,
         extract(epoch from c.first - i.first_available_at) as first_claim,
         extract(epoch from c.last - i.first_available_at) as last_claim
    from t join item i on i.ended_at >= t.since and i.ended_at < t.until and i.kind = 'ticket' and i.queue = :queue
     and i.state = 'settled' and i.look -> 'gold' is null
   cross join lateral (
     select min(at) as first, max(at) as last from event g
      where g.kind = i.kind and g.item_id = i.id and g.token is not null and g.type <> 'refused') c
), figures as (
  select date_trunc('hour', ended_at, 'UTC') as hour, count(*)::integer as "tickets!",
         count(*) filter (where decided <= :target?::double precision)::integer as "kept!",
         percentile_cont(array[0.5, 0.95, 0.99]) within group (order by first_claim) as first_claim,
         percentile_cont(array[0.5, 0.95, 0.99]) within group (order by last_claim) as last_claim,
         percentile_cont(array[0.5, 0.95, 0.99]) within group (order by decided) as decided
    from decided group by grouping sets ((), (1))
)
select t.since, t.until, overdue_tickets(:queue, :target) as "overdue!", f.*
  from t cross join figures f order by f.hour nulls first;

-- name: quality
-- Of each person and model who decided tickets of a queue by a lease in that time: what second looks found, and how
-- often each pair of decisions, theirs and that of the look, came together. A ticket's look is the first that
-- overturned it, else the first that upheld it. Gold counts by itself.
with t as materialized (select since as "since!", until as "until!" from time_range(:from?, :to?)),
made as materialized (
  select i.id, i.ended_by as person, i.result, l.id as look, l.outcome, extract(epoch from i.ended_at - g.at) as seconds
    from t join item i on i.ended_at >= t.since and i.ended_at < t.until
     and i.kind = 'ticket' and i.queue = :queue and i.state = 'settled' and i.settled_token is not null
     and not i.erased and i.look -> 'gold' is null
    left join lateral (
      select e ->> 'id' as id, e ->> 'outcome' as outcome
        from jsonb_array_elements(i.look -> 'looks') with ordinality as s (e, no)
       where e ->> 'outcome' in ('upheld', 'overturned') order by e ->> 'outcome', no limit 1) l on true
    left join lateral (
      select at from event where kind = 'ticket' and item_id = i.id and token = i.settled_token and type <> 'refused'
       limit 1) g on true
), pair as (
  select m.person, md5(compared(q.second -> 'compare', m.result)::text) as theirs,
         md5(compared(q.second -> 'compare', o.result)::text) as other, count(*) as n
    from made m join item o on o.kind = 'ticket' and o.id = m.look
    join queue q on q.kind = 'ticket' and q.name = :queue group by 1, 2, 3
)
select t.since, t.until, p.*,
       (select coalesce(json_agg(json_build_array(r.theirs, r.other, r.n)), '[]')
          from pair r where r.person = p.person) as "pairs!"
  from t left join (
    select person, coalesce(m.decided, 0) as "decided!", coalesce(m.looked, 0) as "looked!",
           coalesce(m.overturned, 0) as "overturned!", m.median_seconds, coalesce(g.judged, 0) as "gold_judged!",
           coalesce(g."right", 0) as "gold_right!", coalesce(g.skipped, 0) as "gold_skipped!"
      from (select person, count(*)::integer as decided, count(look)::integer as looked,
                   count(*) filter (where outcome = 'overturned')::integer as overturned,
                   percentile_cont(0.5) within group (order by seconds) as median_seconds
              from made group by person) m
      full join (select c.person, count(*) filter (where outcome <> 'skipped')::integer as judged,
                        count(*) filter (where outcome = 'right')::integer as "right",
                        count(*) filter (where outcome = 'skipped')::integer as skipped
                   from t join gold_copy c on c.at >= t.since and c.at < t.until and c.queue = :queue
                    and c.outcome <> 'none' group by c.person) g using (person)) p on true
 order by p.decided desc, p.person;
