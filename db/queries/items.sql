-- Transitions of items. Each is one compare-and-set: the WHERE says from which state and with which
-- live lease it is allowed, and no row back is an answer that the caller looks into (`find_attempt`).
-- What follows from a transition (event, counts, notices) is written by db/functions/log.sql.

-- columns: published
-- What is published of an item at a commit.
kind, id, queue, state, version, wake_at, holder, delivery_pending, lacks_jurors, event_seq, last_event, last_actor,
updated_at

-- columns: shown_ticket
-- What is published of a ticket, and what answers show of it: a whole row costs more than anything else in a claim.
{published}, settled_token, rules_due_at, priority, body, requires, exclude, attempts, created_at, available_at,
deadline_at, lease_id, granted_at, expires_at, result, ended_at, ended_by, end_reason, subject, synced_with,
erased, look, category, for_person, for_until, automation

-- name: add_items :moves
-- What is published of added items, and what a batch answers: a row of all columns costs more than its insert.
select {published}, settled_token, rules_due_at, ended_at, run from add_items(:kind, :items::json, :keyed);

-- name: add_shown :moves
-- The same with whole rows, as an add of one ticket shows them.
select * from add_items(:kind, :items::json, :keyed);

-- name: get_items
select * from item where kind = :kind and id = any (:ids::text[]);

-- name: settle_items :moves
select {shown_ticket} from settle_items(
  :kind, :ids, :tokens, :results, :hashes, :subjects, :formVersions, :seen, :synced);

-- name: settle_next :moves
select {shown_ticket}, body is null as "advanced!" from settle_next(
  :kind, :ids, :tokens, :results, :hashes, :subjects, :formVersions, :seen, :next, :skills);

-- name: renew_items :moves :unseen
-- A full lease again. Neither version nor event moves: a touch each 10 s would reach Temporal's
-- signal limit in a day, and the durable timer looks at the row anyway when it fires.
update item i
   set expires_at = t.now + make_interval(secs => coalesce(i.lease_seconds, q.adaptive_seconds, q.lease_seconds)),
       updated_at = t.now
  from unnest(:ids::text[], :tokens::text[], :subjects::text[]) as s (id, token, subject),
       queue q, (select clock_timestamp() as now) t
 where i.kind = :kind and i.id = any (:ids) and i.id = s.id and is_live(i, s.token, s.subject)
   and q.kind = i.kind and q.name = i.queue
returning i.*;

-- name: release_item :moves
-- Releases an item, by its holder's token or (:token null) by an operator, who takes it away.
select * from give_back(:kind, array[:id], array[:token?::text], p_subject => :subject?, p_actor => :actor,
                        p_reason => :reason?, p_delays => array[:delaySeconds::double precision], p_skip => :skip,
                        p_undelivered => :undelivered);

-- name: transfer_item :moves
-- To another queue of the same kind, from any open state; a live lease ends. Its rank is computed by the new
-- queue's ageing, from when it first became available; a deadline of its own stays, one of the old queue is replaced.
with open as (
  select i.kind, i.id, q.level_seconds, q.escalations, q.rules, q.service_seconds,
         case when i.own_category then i.category
              when q.category_from is not null then category_in(i.body, q.category_from) end as category,
         case when i.own_deadline then i.deadline_at
              else i.created_at + make_interval(secs => q.deadline_seconds) end as deadline_at,
         case when i.state = 'held' then 'ready' else i.state end as state
    from item i join queue q on q.kind = i.kind and q.name = :queue
   where i.kind = :kind and i.id = :id and i.ended_at is null
     and (:token?::text is null or is_live(i, :token, :subject?))
     for update of i
)
update item i
   set queue = :queue, state = o.state, deadline_at = o.deadline_at, front = false, escalated_seconds = -1,
       category = o.category, for_person = null, for_until = null,
       rules_due_at = case when o.rules <> '[]' or i.ruled is not null then clock_timestamp() end,
       rank = item_rank(i.kind, i.priority, i.first_available_at, o.level_seconds, false),
       escalates_at = next_escalation(o.escalations, i.first_available_at, -1),
       overdue_at = overdue_time(i.overdue_at, i.first_available_at, o.service_seconds),
       event_seq = i.event_seq + 1, last_event = 'transferred', last_actor = :actor,
       last_data = json_strip_nulls(json_build_object(
         'from', i.queue, 'to', :queue::text, 'reviewer', i.holder, 'reason', :reason?::text))
  from open o
 where i.kind = o.kind and i.id = o.id
returning i.*;

-- name: close_items :moves
-- Ends open items from outside, also while held (S0.4). :state 'settled' (decided by another system, with a
-- result each) or 'invalidated'; :queue: only in this one.
select * from end_items(:kind, :ids, :state, :actor, :reason, p_results => :results, p_queue => :queue?);

-- name: ask_for_look :moves
-- A second look (db/functions/looks.sql), and how the call was taken. :decision? is text, as JSON's null is one, too.
select answer as "answer!", original, look_id
  from ask_for_look(:kind, :id, :cause, :by, :reason?, :priority?, (:decision?::text)::json, :actor);

-- name: open_looks
-- The looks of these ids, as those who read what they are about are shown them.
select id, state, holder from item where kind = 'ticket' and id = any (:ids::text[]);

-- name: has_decided
-- Of these, the looks at what this person decided, in the ticket itself or in an earlier look.
select id from item
 where kind = 'ticket' and id = any (:ids::text[]) and look -> 'deciders' ?| known_as(:person);

-- name: change_item :moves
-- PATCH of an open item, also while held (S0.2): a new priority is the rank that the very next claim reads.
-- :change: the fields that change. What is set here wins over the queue's rules from then on.
with changed as (
  select i.kind, i.id, q.level_seconds, q.rules, coalesce(p.priority, i.priority) as priority,
         case when :change::jsonb ? 'body' then :change::json -> 'body' else i.body end as body,
         case when p.requires is null then i.requires
              else array(select jsonb_array_elements_text(p.requires)) end as requires,
         case when p.exclude is null then i.exclude
              else array(select jsonb_array_elements_text(p.exclude)) end as exclude,
         case when :change::jsonb ? 'deadlineAt' then p."deadlineAt" else i.deadline_at end as deadline_at,
         case when :change::jsonb ? 'subject' then p.subject else i.subject end as subject,
         case when p.category is not null then p.category
              when i.own_category and not :change::jsonb ? 'category' then i.category
              when q.category_from is not null then category_in(
                case when :change::jsonb ? 'body' then :change::json -> 'body' else i.body end, q.category_from)
              end as category,
         case when :change::jsonb ? 'category' then p.category is not null else i.own_category end as own_category,
         f.for_person, case when f.for_person is null then null
                            when :change::jsonb ?| '{for,forSeconds}'
                            then i.available_at + make_interval(secs => p."forSeconds")
                            else i.for_until end as for_until,
         nextval('item_version') as version, i.content_version as content_before, o.other_body, o.other_requires
    from item i
    join queue q on q.kind = i.kind and q.name = i.queue
   cross join jsonb_to_record(:change::jsonb)
           as p (priority bigint, requires jsonb, exclude jsonb, "deadlineAt" timestamptz, subject text, category text,
                 "for" text, "forSeconds" double precision)
   cross join lateral (
     select case when :change::jsonb ? 'for' then p.for else i.for_person end as for_person) f
   cross join lateral (
     select (:change::jsonb -> 'body' <> i.body::jsonb) is true as other_body,
            (p.requires @> to_jsonb(i.requires) and p.requires <@ to_jsonb(i.requires)) is false as other_requires) o
   where i.kind = :kind and i.id = :id and i.ended_at is null
     for update of i
), kept as (
  -- only another body makes suggestions outdated
  update suggestion s set content_version = n.version from changed n
   where n.kind = 'ticket' and s.item_id = n.id and s.content_version is not distinct from n.content_before
     and n.other_requires and not n.other_body
)
update item i
   set priority = n.priority, body = n.body, requires = n.requires, exclude = n.exclude, subject = n.subject,
       category = n.category, own_category = n.own_category, for_person = n.for_person, for_until = n.for_until,
       content_version = case when n.other_body or n.other_requires then n.version else i.content_version end,
       manual_priority = i.manual_priority or :change::jsonb ? 'priority',
       manual_requires = i.manual_requires or :change::jsonb ? 'requires',
       rules_due_at = case when :change::jsonb ?| '{body,subject,category}' and n.rules <> '[]' then clock_timestamp()
                           else i.rules_due_at end,
       deadline_at = n.deadline_at, own_deadline = i.own_deadline or :change::jsonb ? 'deadlineAt',
       rank = item_rank(i.kind, n.priority, i.first_available_at, n.level_seconds, i.front),
       version = n.version, event_seq = i.event_seq + 1, last_event = 'changed', last_actor = :actor,
       last_data = json_build_object('changed', :change::json, 'priorityBefore', i.priority)
  from changed n
 where i.kind = n.kind and i.id = n.id
returning i.*;

-- name: note_item :moves :unseen
-- An event that changes nothing else of the item: no version, so nothing is published.
update item
   set event_seq = event_seq + 1, last_event = :type, last_actor = :actor, last_data = :data::json
 where kind = :kind and id = :id
returning *;

-- name: item_notes
-- What people have left on an item, oldest first, unless it is erased; :actor? and :text?: one of them.
select seq, actor, at, data ->> 'text' as "text!" from event
 where kind = :kind and item_id = :id and type = 'noted' and seq > :after::bigint and data is not null
   and (:actor?::text is null or actor = :actor) and (:text?::text is null or data ->> 'text' = :text)
 order by seq limit :limit;

-- name: find_attempt
-- Data to explain a rejected attempt: the item as it is, and the lease that the attempt named.
select i.*, l.holder as named_holder, l.ended_at as named_ended_at, l.why as named_why,
       i.ended_at is null and least(i.expires_at, i.deadline_at) <= clock_timestamp() as overdue
  from item i left join lateral named_lease(i.kind, i.id, :token?) l on true
 where i.kind = :kind and i.id = :id;

-- name: was_handed
select from event where kind = :kind and item_id = :id and token is not null and type <> 'refused' and actor = :person
 limit 1;

-- name: list_events
-- bytes: data
select seq, type, actor, at, data from event
 where kind = :kind and item_id = :id and seq > :after::bigint order by seq limit :limit;

-- name: filter_items
-- One batch of a bulk invalidation: items of one state in the order of creation, after (:afterAt, :afterSeq). Held
-- items have an index of their own and are few.
select id as "id!", created_at::text as "at!", seq as "seq!" from (
  (select id, created_at, seq from item
    where kind = :kind and queue = :queue and state = :state and state <> 'held' and look is null
      and (created_at, seq) > (:afterAt::timestamptz, :afterSeq::bigint)
      and (:createdBefore?::timestamptz is null or created_at < :createdBefore)
      and (:priorityBelow?::bigint is null or priority < :priorityBelow)
    order by created_at, seq limit :limit::bigint)
  union all
  (select id, created_at, seq from item
    where kind = :kind and queue = :queue and state = 'held' and :state = 'held' and look is null
      and (created_at, seq) > (:afterAt::timestamptz, :afterSeq::bigint)
      and (:createdBefore?::timestamptz is null or created_at < :createdBefore)
      and (:priorityBelow?::bigint is null or priority < :priorityBelow)
    order by created_at, seq limit :limit::bigint)) found
 order by created_at, seq limit :limit::bigint;

-- name: count_filtered
-- The number of items that a bulk invalidation would match in these states.
select count(*)::bigint as "n!" from (
  select created_at, priority from item
   where kind = :kind and queue = :queue and state = any (:states::text[]) and state <> 'held' and look is null
  union all
  select created_at, priority from item
   where kind = :kind and queue = :queue and state = 'held' and 'held' = any (:states) and look is null) open
 where (:createdBefore?::timestamptz is null or created_at < :createdBefore)
   and (:priorityBelow?::bigint is null or priority < :priorityBelow);

-- name: count_open
select count(*)::bigint as "n!" from item
 where kind = :kind and id = any (:ids::text[]) and queue = :queue and ended_at is null;
