-- The item row decides; this trigger writes everything that follows from its change, in the same
-- transaction and for every statement alike, so that no transition can miss its history:
--   event_seq moved  → an event row            lease_id came  → a lease row
--   version moved    → its workflow receives it  lease_id went  → that lease is ended
--   state moved      → signed tally rows       ended by another, or changed while held → a notice
create or replace function log_item_insert() returns trigger language plpgsql as $$
begin
  with logged as (
    insert into event (kind, item_id, seq, type, actor, at, data, version)
    select kind, id, event_seq, last_event, last_actor, updated_at, last_data, version from new_item
  )
  insert into tally (kind, queue, what, n)
  select kind, queue, state, count(*) from new_item group by kind, queue, state;
  return null;
end $$;

-- (Without sequential scans: the plan made while the tables were empty is kept when they are not.)
create or replace function log_item_update() returns trigger language plpgsql
set enable_seqscan = off as $$
begin
  with pair as materialized (
    select n.kind, n.id, n.queue, n.state, n.version, n.event_seq, n.last_event, n.last_actor, n.last_data,
           n.updated_at, n.lease_id, n.holder, n.granted_at, n.lease_follows, n.lease_end,
           o.queue as old_queue, o.state as old_state, o.version as old_version,
           o.event_seq as old_event_seq, o.lease_id as old_lease_id, o.holder as old_holder
      -- full, because that cannot become a nested loop: the plan made for one row is kept for a thousand
      from new_item n full join old_item o on o.kind = n.kind and o.id = n.id
  ), logged as (
    insert into event (kind, item_id, seq, type, actor, at, data, version)
    select kind, id, event_seq, last_event, last_actor, updated_at, last_data,
           -- what its own workflow asked for (`docket.received_by`), that has received already
           case when version > old_version and id is distinct from current_setting('docket.received_by', true) then version end
      from pair where event_seq > old_event_seq
  ), granted as (
    insert into lease (token, kind, item_id, queue, holder, granted_at, follows)
    select lease_id, kind, id, queue, holder, granted_at, lease_follows
      from pair where lease_id is not null and lease_id is distinct from old_lease_id
  ), ended as (
    update lease l
       set ended_at = greatest(p.updated_at, l.granted_at), why = p.lease_end, ended_by = p.last_actor
      from pair p where l.token = p.old_lease_id and p.lease_id is distinct from p.old_lease_id
  ), noticed as (
    insert into notice (kind, item_id, queue, person, type, data)
    select kind, id, old_queue, old_holder, 'lease_lost', json_build_object(
             'reason', case when lease_end = 'closed' then last_event else lease_end end, 'by', last_actor)
      from pair
     where old_lease_id is not null and lease_id is distinct from old_lease_id
       and (last_actor <> old_holder or lease_end not in ('settled', 'released', 'transferred'))
    union all
    select kind, id, queue, holder, 'changed', json_build_object('version', version)
      from pair where lease_id = old_lease_id and version > old_version
  ), moved as (
    select kind, queue, state, old_queue, old_state from pair
     where state <> old_state or queue <> old_queue
  )
  insert into tally (kind, queue, what, n)
  select kind, queue, what, sum(n) from (
    select kind, queue, state as what, 1 as n from moved
    union all select kind, old_queue, old_state, -1 from moved
    union all select kind, old_queue, 'lease_expired', 1 from pair
               where lease_end = 'expired' and old_lease_id is not null and lease_id is null
  ) d group by kind, queue, what having sum(n) <> 0;
  return null;
end $$;
