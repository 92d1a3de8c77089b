-- Queues and their settings.

-- name: ensure_queue
-- A queue exists with the defaults from its first item or claim on.
insert into queue as q (kind, name) values (:kind, :name)
on conflict (kind, name) do update set deleted_at = null where q.deleted_at is not null;

-- name: get_queue
select * from queue q where kind = :kind and name = :name and is_there(q);

-- name: queue_callback
-- Also that of a court that has been deleted, whose outcomes are still delivered.
select callback from queue where kind = :kind and name = :name;

-- name: list_queues
-- bytes: form, escalations, rules
select * from queue q where kind = :kind and (:before?::bigint is null or seq < :before) and is_there(q)
 order by seq desc limit :limit;

-- columns: queue_settings
lease_seconds, level_seconds, escalations, reclaimed_first, max_held, max_attempts, deadline_seconds, callback, form,
rules, sync, second, gold, service_seconds, lease, registered, category_from, desk

-- name: put_queue
-- Replaces all settings. refresh_pending says that open items must be recomputed (ageing, escalations,
-- deadlines are stored with the item); it stays true until that is done, also over a crash.
insert into queue as q (kind, name, {queue_settings}, assist)
values (:kind, :name, :leaseSeconds, :levelSeconds?, :escalations::jsonb, :reclaimedFirst, :maxHeld,
        :maxAttempts?, :deadlineSeconds?, :callback?::jsonb, :form?::json, :rules::jsonb, :sync?,
        :second?::jsonb,
        -- while copies are open, the queue goes on with gold of which it hands out no more
        coalesce(:gold?::jsonb, (select '{"share": 0, "idPrefix": null}'::jsonb where exists (
          select from gold_copy where queue = :name and outcome is null))),
        :serviceSeconds?, coalesce(:lease?, 'fixed'), coalesce(:registered?::boolean, false), :categoryFrom?,
        :desk?::jsonb, :assist?::jsonb)
on conflict (kind, name) do update
   set ({queue_settings}) = ({excluded.queue_settings}),
       adaptive_seconds = case when (q.lease, q.lease_seconds) = (excluded.lease, excluded.lease_seconds)
                               then q.adaptive_seconds end,
       -- what was shown before is still noted in decisions
       assist = coalesce(excluded.assist, q.assist || '{"mode": "off", "minConfidence": 1, "share": 0}'),
       settings_version = nextval('item_version'), updated_at = clock_timestamp(), deleted_at = null,
       refresh_pending = q.refresh_pending
         or (q.level_seconds, q.escalations, q.deadline_seconds, q.rules, q.service_seconds, q.category_from)
            is distinct from (excluded.level_seconds, excluded.escalations, excluded.deadline_seconds, excluded.rules,
                              excluded.service_seconds, excluded.category_from)
returning *;

-- name: pause_queue
update queue q set paused = :paused, updated_at = clock_timestamp()
 where kind = :kind and name = :name and is_there(q)
returning *;

-- name: take_refresh
-- Queues whose settings changed a while ago and are not known to be applied everywhere: the walk was
-- cut off, or an item was added during it under the old settings. One process takes each.
update queue set refresh_taken_at = clock_timestamp()
 where refresh_pending and updated_at < clock_timestamp() - interval '5 seconds'
   and (refresh_taken_at is null or refresh_taken_at < clock_timestamp() - interval '10 minutes')
returning kind, name;

-- name: refresh_items :moves :unseen
-- One batch of a queue's open items, recomputed after its settings changed: rank, deadline and wake time;
-- steps already reached apply again as `greatest(current, step)`. Walks in the order of creation from
-- (:afterCreatedAt, :afterSeq). The answer is the last row of the batch, with the ids for which something is due
-- at once (an escalation that they have reached) and those that rules are about; no row at the end.
with batch as materialized (
  select * from open_items(:kind, :name, :afterCreatedAt, :afterSeq, :limit)
), locked as materialized (
  -- without the queue: before the first ANALYZE the planner would read a queue's whole index per row
  select i.kind, i.id, i.queue, i.priority, i.front, i.created_at, i.first_available_at,
         i.deadline_at, i.own_deadline, i.overdue_at, i.ruled, i.rules_due_at, i.body, i.category, i.own_category
    from item i where i.kind = :kind and i.id = any (array(select id from batch)) and i.ended_at is null
   order by i.id for update of i
), recomputed as materialized (
  select i.kind, i.id, d.deadline_at, q.rules <> '[]' or i.ruled is not null or i.rules_due_at is not null as ruled,
         item_rank(i.kind, i.priority, i.first_available_at, q.level_seconds, i.front) as rank,
         next_escalation(q.escalations, i.first_available_at, -1) as escalates_at,
         overdue_time(i.overdue_at, i.first_available_at, q.service_seconds) as overdue_at,
         case when i.own_category then i.category
              when q.category_from is not null then category_in(i.body, q.category_from) end as category
    from locked i
    join queue q on q.kind = i.kind and q.name = i.queue
   cross join lateral (
     select case when i.own_deadline then i.deadline_at
                 else i.created_at + make_interval(secs => q.deadline_seconds) end as deadline_at) d
), refreshed as (
  update item i
     set rank = r.rank, deadline_at = r.deadline_at, escalates_at = r.escalates_at, overdue_at = r.overdue_at,
         escalated_seconds = -1, category = r.category,
         version = case when (r.deadline_at, r.escalates_at, r.overdue_at)
                             is distinct from (i.deadline_at, i.escalates_at, i.overdue_at)
                        then nextval('item_version') else i.version end
    from recomputed r
   where i.kind = r.kind and i.id = any (array(select id from batch)) and i.id = r.id
     and (i.rank, i.deadline_at, i.escalates_at, i.overdue_at, i.escalated_seconds, i.category)
         is distinct from (r.rank, r.deadline_at, r.escalates_at, r.overdue_at, -1, r.category)
  returning i.kind, i.id, i.version, i.wake_at
), marked as (
  -- a new wake time has no line in the log
  insert into unpublished (kind, item_id)
  select f.kind, f.id from refreshed f join item i on i.kind = f.kind and i.id = f.id and i.version <> f.version
  on conflict (kind, item_id) do update set at = excluded.at
)
select created_at::text as "created_at!", seq as "seq!",
       array(select id from refreshed where wake_at <= (select clock_timestamp())) as "due!",
       array(select id from recomputed where ruled) as "ruled!"
  from batch order by batch.created_at desc, batch.seq desc limit 1;

-- name: refresh_done
-- Only if the settings are still those that were applied, and old enough for every add that was
-- under way when they changed to have been seen by this walk.
update queue set refresh_pending = false, refresh_taken_at = null
 where kind = :kind and name = :name and settings_version = :settingsVersion
   and updated_at < clock_timestamp() - interval '5 seconds'
returning name;

-- name: queue_stats
-- A row for each name. Exact as of one snapshot: sums of the tally, not counts over the items.
select q.name as "name!",
  (select coalesce(json_object_agg(what, n), '{}') from (
     select what, sum(n) as n from tally where kind = :kind and queue = q.name group by what) t) as "counts!",
  (select extract(epoch from clock_timestamp() - min(first_available_at))::double precision
     from item where kind = :kind and queue = q.name and state = 'ready'
      and not is_gold(look)) as oldest_waiting_seconds,
  (select coalesce(sum(n), 0)::integer from tally
    where kind = :kind and queue = q.name and what = 'held'
      and at > (select clock_timestamp()) - interval '1 minute') as "claims_per_minute!",
  exists (select from gold_copy)
    or exists (select from gold g where :kind = 'ticket' and g.queue = q.name) as "has_gold!"
  from unnest(:names::text[]) q(name);

-- name: own_gold
-- What a queue's stats have beside its tickets for one person: their copies, the gold that is still to come, without
-- the looks that were drawn of their decisions.
with own as materialized (select * from own_copies(:queue, :person)),
line as materialized (
  select e.type, e.at from gold_copy c join event e on e.kind = 'ticket' and e.item_id = c.id
   where c.queue = :queue and c.person = any ((select known_as(:person))::text[])
     and e.type in ('claimed', 'reclaimed'))
select (select json_object_agg(s.what, s.n) from (
         select what, sum(n) as n from (
           select state as what, count(*) as n from own group by state
           union all select 'lease_expired', count(*) from line where type = 'reclaimed'
           union all select 'ready', count(*) from gold_left(:queue, :person), queue
                      where kind = 'ticket' and name = :queue and gold -> 'share' > '0'
           union all select state, -count(*) from item
                      where queue = :queue and look ? 'drawn' and ended_at is null
                        and is_own_draw(look, (select known_as(:person))) group by state) c
          group by what) s) as "counts!",
       (select extract(epoch from clock_timestamp() - min(first_available_at))::double precision
          from own where state = 'ready') as oldest_waiting_seconds,
       (select count(*)::integer from line
         where type = 'claimed' and at > clock_timestamp() - interval '1 minute') as "claims_per_minute!";

-- name: claim_reasons
-- Why a claim of these queues came back empty: a row for each, each cause counted up to 1,000 (S0.5, explain).
with me as materialized (select *, away_names() as aways from register_of(:person))
select a.queue as "queue!", r.* from me cross join unnest(:queues::text[]) as a (queue) cross join lateral (
  with q as (select * from queue where kind = :kind and name = a.queue),
  mine as (
    select count(*)::integer as n from item
     where kind = :kind and queue = a.queue and state = 'held'
       and holder = :person and expires_at > clock_timestamp()),
  own as materialized (select * from own_copies(a.queue, :person)),
  waiting as materialized (
    -- whoever decided before is excluded from a second look
    select i.exclude || case when i.look ? 'of' then i.skipped end as exclude,
           case when i.look ? 'of' then '{}' else i.skipped end as skipped, i.requires, i.for_person, i.for_until,
           me.spent is true and not h.handed as spent, i.category = any (me."full") and not h.handed as exposed
      from item i
     cross join lateral (select i.event_seq > 1 and was_handed(i.id, me.names) as handed) h
     where kind = :kind and queue = a.queue and state = 'ready' and not is_gold(i.look)
       and not (is_own_draw(i.look, me.names) is true and exists (select from q where gold is not null))
     union all
     select exclude, skipped, requires, null, null, false, false from own where state = 'ready'
     union all
     select '{}', '{}', g.requires, null, null, me.spent is true, false
      from q cross join gold_left(q.name, :person) g where q.kind = 'ticket' and q.gold -> 'share' > '0'
     limit 1000),
  not_mine as materialized (
    select for_until from waiting
     where for_person is not null and not is_for(for_person, for_until, exclude || skipped, me.names, me.aways))
  select
    (select count(*) from (
       select 1 from item where kind = :kind and queue = a.queue and state = 'delayed' union all
       select 1 from own where state = 'delayed' limit 1000) s)::integer
      as "delayed!",
    (select count(*) from (select 1 from item where kind = :kind and queue = a.queue and state = 'held'
                              and holder <> :person and not is_gold(look) limit 1000) s)::integer as "held!",
    (select count(*) from waiting where me.names && exclude)::integer as "excluded!",
    (select count(*) from waiting
      where not requires <@ case when me.registered and (select registered from q) then me.skills
                                 else :skills::text[] end)::integer as "skills!",
    (select count(*) from waiting, q where q.registered and not me.registered)::integer as "not_registered!",
    (select count(*) from waiting where me.away_until is not null)::integer as "away!",
    (select count(*) from waiting where spent)::integer as "quota!",
    (select count(*) from waiting where exposed)::integer as "exposure!",
    (select count(*) from not_mine)::integer as "for_another!",
    (select count(*) from waiting where me.names && skipped)::integer as "skipped!",
    coalesce((select case when q.paused then (select count(*) from waiting) else 0 end from q), 0)::integer
      as "paused!",
    coalesce((select case when mine.n >= q.max_held then mine.n else 0 end from q, mine), 0)::integer as "max_held!",
    extract(epoch from least(
      (select min(available_at) from item where kind = :kind and queue = a.queue and state = 'delayed'),
      (select min(available_at) from own where state = 'delayed'),
      (select min(expires_at) from item where kind = :kind and queue = a.queue and state = 'held'),
      me.away_until, (select min(for_until) from not_mine),
      case when exists (select from waiting where spent or exposed) then me.day_ends_at end
    ) - clock_timestamp())::double precision as retry_after) r;

-- name: claim :moves
-- What was due in the queue and is done now, which has no body, and what is handed out.
select {shown_ticket}, body is null as "advanced!"
  from claim_items(:kind, :queue, :persons, :tokens, :count, :skills, :resume);

-- name: claim_from :moves
select {shown_ticket}, body is null as "advanced!" from claim_from('ticket', :queues, :person, :tokens, :skills, true);

-- name: claim_next :moves
select {shown_ticket}, body is null as "advanced!" from claim_next(:kind, :id, :token, :skills, :queues);

-- name: items_ahead
-- How many would be handed to this person before the item, counted up to 1,000.
select count(*)::integer as "n!" from (
  select 1 from item i, (select rank, seq from item where kind = :kind and id = :id) mine,
         queue q, register_of(:person) me
   where i.kind = :kind and i.queue = :queue and i.state = 'ready' and (i.rank, i.seq) < (mine.rank, mine.seq)
     and q.kind = i.kind and q.name = i.queue
     and i.requires <@ case when q.registered then me.skills else :skills::text[] end
     and not is_gold(i.look) and is_offered(i, me.names, me."full", (select away_names()))
   limit 1000) s;
