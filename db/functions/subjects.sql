-- Decisions that decide the other open tickets of their subject (S0.4). All of it is one transaction: `lock_subjects`,
-- the decision itself, `sync_subjects`.

-- Locks these tickets' subjects, so that of many who decide tickets of one subject the first decides all, and the
-- others wait instead of running into deadlocks. Then locks the rows in the order of ids, as everywhere.
create or replace function lock_subjects(p_ids text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('subject', i.queue, i.subject) as key from item i
      join queue q on q.kind = 'ticket' and q.name = i.queue and q.sync = 'subject'
     where i.kind = 'ticket' and i.id = any (p_ids) and i.subject is not null and i.look is null order by 1) s;
  if not found then return; end if;
  perform from item where kind = 'ticket' and id = any (array(
    select unnest(p_ids) union
    select o.id from (
      -- each once, as all of a bulk call are of one
      select distinct queue, subject from item
       where kind = 'ticket' and id = any (p_ids) and subject is not null and look is null) s
     cross join lateral (
      select id from item where subject = s.subject and queue = s.queue and ended_at is null and look is null) o))
   order by id for update;
end $$;

-- Decides with these tickets, which are decided, the others of their subject: none that excludes the decider, asks for
-- skills that the deciding ticket does not, or whose callback refuses the decision. Required skills are unknown while
-- rules are not evaluated, so such a ticket stays open. Of several, the first in p_ids decides.
create or replace function sync_subjects(p_ids text[]) returns setof item language plpgsql as $$
begin
  return query with decided as materialized (
    -- those that differ in nothing are one, as all of a bulk call are
    select distinct on (d.queue, d.subject, d.ended_by, d.requires_key, d.end_reason, d.result_hash, d.result::text)
           d.id, d.queue, d.subject, d.requires, d.result, d.result_hash, d.ended_by, d.end_reason, p.no, q.callback,
           known_as(d.ended_by) as names
      from unnest(p_ids) with ordinality as p (id, no)
      join item d on d.kind = 'ticket' and d.id = p.id and d.state = 'settled'
       and (d.look ?| '{of,gold}') is not true
      join queue q on q.kind = 'ticket' and q.name = d.queue and q.sync = 'subject'
     order by d.queue, d.subject, d.ended_by, d.requires_key, d.end_reason, d.result_hash, d.result::text, p.no
  ), wanted as materialized (
    select distinct on (o.id) o.id, d.id as with_id, d.result, d.result_hash, d.ended_by, d.end_reason,
           coalesce(o.callback, d.callback) is not null as deliver
      from decided d join item o on o.subject = d.subject and o.queue = d.queue and o.ended_at is null
     where o.look is null and not d.names && o.exclude and o.requires <@ d.requires and o.rules_due_at is null
       and (o.deadline_at is null or o.deadline_at > clock_timestamp()) and fits_review(o.callback, d.result)
     order by o.id, d.no)
  update item i
     set state = 'settled', result = w.result, result_hash = w.result_hash, synced_with = w.with_id,
         delivery_pending = w.deliver, end_reason = w.end_reason,
         event_seq = i.event_seq + 1, last_event = 'synced', last_actor = w.ended_by,
         last_data = json_strip_nulls(json_build_object(
           'with', w.with_id, 'decision', w.result, 'reason', w.end_reason, 'reviewer', i.holder))
    from wanted w
   where i.kind = 'ticket' and i.id = w.id and i.ended_at is null
  returning i.*;
end $$;
