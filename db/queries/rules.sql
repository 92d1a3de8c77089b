-- Rules of a queue (S0.2); how they are evaluated: services/items/rules.ts.

-- name: apply_rules :moves
-- Applies the outcome of rules to tickets of a queue, evaluated under its settings version :settingsVersion.
-- :tickets: JSON array of {id, version, priority, requires, rules}; a ticket that changed in between is left out of
-- the answer and evaluated again. What was set by hand stays; an escalation that was reached is never undone.
with ruled as materialized (
  select i.kind, i.id, q.level_seconds, x.rules,
         case when i.manual_priority then i.priority else greatest(x.priority, step.priority) end as priority,
         case when i.manual_requires then i.requires
              else array(select json_array_elements_text(x.requires)) end as requires
    from json_to_recordset(:tickets::json) as x (id text, version bigint, priority bigint, requires json, rules jsonb)
    join item i
      on i.kind = 'ticket' and i.id = x.id and i.version = x.version and i.queue = :queue and i.ended_at is null
    join queue q on q.kind = 'ticket' and q.name = :queue and q.settings_version = :settingsVersion
   cross join lateral (
     select max(s.priority) as priority
       from jsonb_to_recordset(q.escalations) as s ("afterSeconds" double precision, priority bigint)
      where s."afterSeconds" <= i.escalated_seconds) step
   order by i.id for update of i
), changed as (
  select r.*, r.priority <> i.priority or r.requires <> i.requires as moved
    from ruled r join item i on i.kind = r.kind and i.id = r.id
)
update item i
   set priority = c.priority, requires = c.requires, ruled = c.rules, rules_due_at = null,
       base_priority = coalesce(i.base_priority, i.priority), base_requires = coalesce(i.base_requires, i.requires),
       rank = item_rank(i.kind, c.priority, i.first_available_at, c.level_seconds, i.front),
       event_seq = i.event_seq + c.moved::integer, last_event = case when c.moved then 'changed' end,
       last_actor = 'system',
       last_data = json_build_object(
         'changed', json_strip_nulls(json_build_object(
           'priority', case when c.priority <> i.priority then c.priority end,
           'requires', case when c.requires <> i.requires then to_json(c.requires) end)),
         'priorityBefore', i.priority, 'rules', c.rules)
  from changed c
 where i.kind = c.kind and i.id = c.id
returning i.*;

-- name: hold_back :moves
-- Keeps the mark of tickets whose rules ran out of time, until they are tried again: so they are not handed out, and
-- count as parked. :tickets: JSON array of {id, version, error, seconds}.
with failed as materialized (
  select i.kind, i.id, x.error, x.seconds
    from json_to_recordset(:tickets::json) as x (id text, version bigint, error text, seconds double precision)
    join item i
      on i.kind = 'ticket' and i.id = x.id and i.version = x.version and i.queue = :queue and i.ended_at is null
    join queue q on q.kind = 'ticket' and q.name = :queue and q.settings_version = :settingsVersion
   order by i.id for update of i
)
update item i
   set rules_due_at = clock_timestamp() + make_interval(secs => f.seconds), event_seq = i.event_seq + 1,
       last_event = 'parked', last_actor = 'system', last_data = json_build_object('error', f.error)
  from failed f
 where i.kind = f.kind and i.id = f.id
returning i.*;

-- name: rules_due
-- Tickets whose evaluation was cut off: the process that moved them had two seconds for it.
select * from item
 where rules_due_at < clock_timestamp() - interval '2 seconds' and ended_at is null
 order by rules_due_at limit :limit;

-- name: open_tickets
-- One batch of a queue's open tickets in the order of creation from (:afterCreatedAt, :afterSeq), with how long each
-- has waited, and its category if a queue's were :categoryFrom.
select i.*, extract(epoch from clock_timestamp() - first_available_at)::double precision as "waited!",
       case when own_category then category else category_in(body, :categoryFrom?) end as tried_category
  from item i
 where i.kind = 'ticket'
   and i.id = any (array(select id from open_items('ticket', :queue, :afterCreatedAt, :afterSeq, :limit)))
 order by i.created_at, i.seq;

-- name: category_of
-- The category of a ticket that has none of its own.
select category_in(:body::json, :categoryFrom?) as category;
