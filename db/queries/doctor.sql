-- Statements of `docket doctor` (services/doctor/invariants.ts). Each returns the rows that break an invariant, which
-- holds in every snapshot, however busy the system is. `id`: the row; `says`: the fault.
--
-- Most check the items of the log lines from :from (not included) to :to, so that the log is read in parts: its newest
-- lines by default, all of it with `--deep`. Each item costs a few index reads, 100,000 lines about a second.

-- name: log_range
select coalesce(min(id), 0)::bigint as "first!", coalesce(max(id), 0)::bigint as "last!" from event;

-- name: lock_counts
-- One at a time corrects counts: two would do it twice.
select pg_advisory_xact_lock(7236030);

-- name: wrong_counts
-- Counts that differ from the rows: items by queue and state, deliveries by kind and state. Read in one snapshot, from
-- indexes only (item_state, item_holder, delivery_state, delivery_queue): a million items take some tenths of a second.
-- :correct adds a line to the tally for each difference; concurrent commits do not make it wrong.
with found as materialized (
  select n.kind, n.queue, n.what, sum(n.counted)::bigint as counted, sum(n.present)::bigint as present
    from (
      select t.kind, t.queue collate "C" as queue, t.what, t.n as counted, 0::bigint as present from tally t
       where t.kind in ('ticket', 'job', 'case', 'task', 'rotation')
         and t.what in ('delayed', 'ready', 'held', 'buried', 'settled', 'invalidated', 'expired', 'dead',
                        'delivery_failed')
          or t.kind = 'delivery' and t.what in ('pending', 'delivered', 'failed', 'ended')
      union all
      -- gold is not counted
      select 'ticket', i.queue, i.state, 0, -1 from gold_copy c join item i on i.kind = 'ticket' and i.id = c.id
      union all
      select i.kind, i.queue, i.state, 0, count(*) from item i where i.state <> 'held' group by i.kind, i.queue, i.state
      union all
      select i.kind, i.queue, 'held', 0, count(*) from item i where i.state = 'held' group by i.kind, i.queue
      union all
      select 'delivery', d.kind collate "C", d.state, 0, count(*) from delivery d group by d.kind, d.state
      union all
      select d.kind, d.queue, 'delivery_failed', 0, count(*) from delivery d
       where d.state = 'failed' and d.queue <> '' group by d.kind, d.queue
      union all
      -- invitations that have ended
      select w.kind, case w.kind when 'case' then d.queue else 'case' end, w.what, 0, sum(w.n)
        from delivery d
       cross join (values ('delivery', 'failed', -1), ('delivery', 'ended', 1), ('case', 'delivery_failed', -1))
               as w (kind, what, n)
       where d.kind = 'case' and d.state = 'failed' and delivery_counts_as(d) = 'ended' group by 1, 2, 3) n
   group by n.kind, n.queue, n.what having sum(n.counted) <> sum(n.present)
   order by n.kind, n.queue, n.what limit :limit
), corrected as (
  insert into tally_line (kind, queue, what, n)
  select kind, queue, what, present - counted from found where :correct::boolean
)
select kind || '/' || queue || ' ' || what as "id!",
       counted || ' counted, ' || present || ' rows' as "says!" from found;

-- name: wrong_states
-- A last event that does not lead to the row's state, by the lifecycle of its kind (:kinds, :events, :states).
select i.kind || '/' || i.id as "id!", i.last_event || ' does not lead to ' || i.state as says
  from (select distinct kind, item_id from event where id > :from::bigint and id <= :to::bigint and kind <> 'review') t
  join item i on i.kind = t.kind and i.id = t.item_id
 where not exists (select from unnest(:kinds::text[], :events::text[], :states::text[]) as l (kind, event, state)
                    where l.kind = i.kind and l.event = i.last_event and l.state = i.state)
 order by 1 limit :limit;

-- name: wrong_log
-- Items whose events have a gap or do not match their row; items of :exclusive kinds whose events grant them to more
-- than one holder at once, or to none while they are held.
select t.kind || '/' || t.item_id as "id!", f.says
  from (select distinct kind, item_id from event where id > :from::bigint and id <= :to::bigint and kind <> 'review') t
  left join item i on i.kind = t.kind and i.id = t.item_id
 cross join lateral (
   select count(*) as n, min(e.seq) as oldest, max(e.seq) as newest, max(e.version) as version,
          (array_agg(e.type order by e.seq desc))[1] as type, (array_agg(e.type order by e.seq))[1] as first,
          count(*) filter (where e.token is not null and e.type <> 'refused') as grants,
          count(e.ends) as ends, count(distinct e.ends) as ended
     from event e where e.kind = t.kind and e.item_id = t.item_id) l
 cross join lateral (select case
     when i.id is null then 'there is no such item, and ' || l.n || ' events of it'
     -- of a job's earlier runs the events may have been cleared
     when l.newest <> i.event_seq
       or l.n <> i.event_seq - case when i.run > 1 and l.first = 'created' then l.oldest - 1 else 0 end then
       l.n || ' events up to number ' || l.newest || ', its row knows ' || i.event_seq
     when l.type <> i.last_event then 'the last event is ' || l.type || ', its row says ' || i.last_event
     when l.version > i.version then 'version ' || l.version || ' in its events, ' || i.version || ' in its row'
     when i.kind = any (:exclusive::text[]) and (l.ends <> l.ended or l.grants - l.ended <> (i.state = 'held')::integer)
       then l.grants - l.ended || ' live leases in its events, and it is ' || i.state end as says) f
 where f.says is not null
 order by 1 limit :limit;

-- name: wrong_waits
-- Waits of which the end of the item has passed by (derive_item).
select w.workflow_id as "id!", 'its item is over, and nothing wakes it' as "says!"
  from wait w left join item i on i.kind = w.kind and i.id = w.item_id
 where w.wake_at is null and (i.id is null or i.ended_at is not null or i.run <> w.run) limit :limit;

-- name: wrong_looks
-- Second looks of which the ticket that they are about says otherwise (derive_item). That ticket is read by its id: in
-- a table that was never analyzed the planner reads all of them for each event.
select distinct i.kind || '/' || i.id as "id!", 'it is a look at ' || o.id || ', which says otherwise' as "says!"
  from event e
  join item i on i.kind = e.kind and i.id = e.item_id and i.look ? 'of'
  cross join lateral (
    select t.id, t.look from item t where t.kind = i.kind and t.id = i.look #>> '{of,id}' offset 0) o
 where e.id > :from::bigint and e.id <= :to::bigint and e.kind in ('ticket', 'case')
   and not exists (
     select from jsonb_array_elements(o.look -> 'looks') l
      where l ->> 'id' = i.id and (l ->> 'outcome' is null) = (i.ended_at is null))
 order by 1 limit :limit;

-- name: wrong_quotas
-- Registered names under which fewer tickets were counted than were handed out for the first time at all. Not what may
-- have been claimed before the entry was there.
select c.name as "id!", c.counted || ' counted, ' || c.n || ' handed out' as "says!"
  from (
    select r.name, count(*) as n,
           coalesce((select sum(d.n) from reviewer_day d where d.name = r.name), 0) as counted
      from event e join reviewer r on r.name = e.actor
     where e.id > :from::bigint and e.id <= :to::bigint and e.kind = 'ticket' and e.type = 'claimed'
       and e.at > greatest(r.updated_at + interval '10 seconds', (select clock_timestamp()) - interval '1 day')
       and not exists (
         select from event f
          where f.kind = e.kind and f.item_id = e.item_id and f.seq < e.seq and f.type = 'claimed')
     group by r.name) c
 where c.counted < c.n order by 1 limit :limit;

-- name: wrong_holds
-- Held items whose lease is incomplete or not the one that was granted last; tickets that were claimed before they were
-- due, or whose slot was given up during their lease. Reads the held items (item_holder) and a few of their events.
select i.kind || '/' || i.id as "id!", f.says
  from item i
  left join lateral (
    select e.token,
           exists (select from event x where x.kind = e.kind and x.item_id = e.item_id and x.ends = e.seq) as ended
      from event e where e.kind = i.kind and e.item_id = i.id and e.token is not null and e.type <> 'refused'
     order by e.seq desc limit 1) g on true
 cross join lateral (select case
     when i.lease_id is null or i.holder is null or i.granted_at is null or i.expires_at is null
       then 'its lease is not whole'
     when g.token is distinct from token_hash(i.lease_id) then 'its token is not the one that was granted last'
     when g.ended then 'its events say that its lease has ended'
     when i.slot < 0 and i.expires_at > clock_timestamp() then 'its slot was given up, and its lease is live'
     -- a job may be reserved by its number before it is due
     when i.kind = 'ticket' and i.granted_at < i.available_at then 'it was handed out before it was due' end as says) f
 where i.state = 'held' and f.says is not null
 order by 1 limit :limit;

-- name: wrong_leases
-- Live leases of items with capacity that have ended, do not exist, or were not due at the grant. Reads the live ones
-- (lease_live).
select l.kind || '/' || l.item_id as "id!",
       l.holder || ' holds it, and it ' || case when i.id is null then 'is not there'
                                                when i.ended_at is not null then 'is ' || i.state
                                                else 'was not due' end as says
  from lease l left join item i on i.kind = l.kind and i.id = l.item_id
 where l.ended_at is null and (i.id is null or i.ended_at is not null or l.granted_at < i.available_at)
 order by 1 limit :limit;

-- name: wrong_cases
-- Cases whose row does not match their votes and leases, or that a person has voted on twice. Capacity and invitations
-- are checked only where the court's settings are applied to all of its cases.
select 'case/' || i.id as "id!", d.says
  from (select distinct item_id from event where id > :from::bigint and id <= :to::bigint and kind = 'case') t
  join item i on i.kind = 'case' and i.id = t.item_id
  join case_file f on f.id = i.id
  join court c on c.name = f.court
  join queue q on q.kind = 'case' and q.name = f.court
 cross join lateral (
   select count(*) as live from lease l where l.kind = 'case' and l.item_id = i.id and l.ended_at is null) h
 cross join lateral (
   select coalesce(sum(o.n), 0) as n, coalesce(sum(o.counted), 0) as counted,
          (select count(distinct p.person) from vote p where p.case_id = i.id) as persons,
          coalesce(jsonb_object_agg(o.option, o.counted) filter (where o.counted > 0), '{}') as tally
     from (select w.option, count(*) as n, count(*) filter (where w.counted) as counted
             from vote w where w.case_id = i.id group by w.option) o) v
 cross join lateral (select case
     when f.holds <> h.live then f.holds || ' holds by its row, ' || h.live || ' live leases'
     when v.n <> v.persons then v.n || ' votes of ' || v.persons || ' persons'
     when f.gold is null and (f.votes <> v.counted or f.tally <> v.tally) then
       'its row counts ' || f.votes || ' votes, ' || f.tally || ', there are ' || v.counted || ', ' || v.tally
     when (i.state = 'settled') <> (f.winner is not null) then
       'it is ' || i.state || ', and its winner ' || coalesce(f.winner, 'no one')
     when i.ended_at is null and not q.refresh_pending
       and (i.capacity is distinct from case_slots_left(f, c) or i.lacks_jurors <> case_invites(f, c)) then
       'capacity ' || coalesce(i.capacity::text, 'none') || ' by its row, '
         || case_slots_left(f, c) || ' by votes and leases' end as says) d
 where d.says is not null
 order by 1 limit :limit;

-- name: wrong_stock
-- Open occurrences whose stock does not match their task and dispatches, and occurrences with more dispatches than a
-- task that was never changed allows.
select 'task/' || i.id as "id!",
       coalesce(i.capacity::text, 'no') || ' left by its row, ' || c.live || ' dispatched and '
         || c.done || ' completed of ' || k.dispatch_times as says
  from (select distinct item_id from event where id > :from::bigint and id <= :to::bigint and kind = 'task') t
  join item i on i.kind = 'task' and i.id = t.item_id
  join task k on k.id = task_of(i.id)
 cross join lateral (
   select count(*) filter (where l.ended_at is null) as live, count(*) filter (where l.why = 'settled') as done
     from lease l where l.kind = 'task' and l.item_id = i.id) c
 where k.revision = 1 and c.live + c.done > k.dispatch_times
    -- what is past its look-back is about to lose its stock
    or i.ended_at is null and coalesce(i.deadline_at > clock_timestamp(), true)
       and i.capacity is distinct from case when k.state = 'active' and not i.closing
                                        then greatest(k.dispatch_times - c.live - c.done, 0) else 0 end
 order by 1 limit :limit;

-- name: wrong_reviews
-- Reviews whose three stores differ, whose log has a gap, or whose status is not the one that was applied last.
select 'review/' || r.id as "id!", f.says
  from (select distinct item_id from event where id > :from::bigint and id <= :to::bigint and kind = 'review') t
  join review r on r.id = t.item_id
  left join review_base b on b.review_id = r.id
 cross join lateral (
   select count(*) as n, coalesce(max(c.seq), 0) as newest
     from review_callback c where c.review_id = r.id and c.seq is not null) l
 cross join lateral (select case
     when r.record <> record_of_index(r.id) then 'record and index differ'
     when l.n <> r.log_seq or l.newest <> r.log_seq then
       l.n || ' lines up to number ' || l.newest || ', its row knows ' || r.log_seq
     when b is distinct from base_of(r) then 'record and base row differ'
     when exists (
       select from review_index x left join review_callback c on c.arrival = x.arrival
        where x.review_id = r.id and x.arrival is not null
          and ((c.review_id, c.kind, c.target_id, c.outcome, c.status, c.audit_time)
                 is distinct from (x.review_id, x.kind, x.target_id, 'applied', x.status, x.audit_time)
               or exists (select from review_callback o
                           where o.review_id = x.review_id and o.seq > c.seq and o.outcome = 'applied'
                             and o.kind = x.kind and o.target_id = x.target_id)))
       then 'a status is not that of the callback which was applied last' end as says) f
 where f.says is not null
 order by 1 limit :limit;

-- name: wrong_outcomes
-- Final items whose outcome is marked pending although its delivery has ended: nothing would record that. Reads the
-- pending items (item_delivery_pending).
select i.kind || '/' || i.id as "id!", 'its outcome is pending, and its delivery ' || d.state as says
  from item i join delivery d on d.kind = i.kind and d.item_id = i.id and d.n = 1
 where i.delivery_pending and d.state <> 'pending' and d.type <> 'case.invited'
 order by 1 limit :limit;

-- name: wrong_feed
-- Log lines without a position that the sequencer has passed without leaving a hole, so that no reader of the feed will
-- ever see them (db/functions/feed.sql); and positions of lines that do not exist.
select 'event ' || e.id as "id!",
       e.kind || '/' || e.item_id || ' ' || e.seq || ' (' || e.type || ') has no position' as says
  from event e
 where e.id > :from::bigint and e.id <= least(:to::bigint, (select upto from feed_state))
   and not exists (select from feed f where f.event_id = e.id)
   and not exists (select from feed_hole h where e.id between h.first and h.last)
union all
select 'position ' || f.seq, 'its event ' || f.event_id || ' is not there'
  from feed f
 where f.event_id > :from::bigint and f.event_id <= :to::bigint
   and not exists (select from event e where e.id = f.event_id)
 order by 1 limit :limit;
