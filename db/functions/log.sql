-- The item row decides; this trigger writes everything that follows from its change, in the same
-- transaction and for every statement alike, so that no transition can miss its history:
--   event_seq moved  → an event row, which says what lease it grants or ends
--   version moved    → its workflow receives the line that says so
--   state moved      → a line of the tally
--   lease ended by another, or item changed while held → a notice
create or replace function log_item_insert() returns trigger language plpgsql as $$
begin
  perform refuse_broken(n) from new_item n where broken_invariant(n) is not null;
  with logged as (
    insert into event (kind, item_id, no, seq, type, actor, at, data, version)
    select kind, id, seq, event_seq, last_event, last_actor, updated_at, last_data, version from new_item
  )
  insert into tally_line (kind, queue, what, n)
  select kind, queue, state, count(*) from new_item where not is_gold(look) group by kind, queue, state;
  if exists (select from full_text) then
    perform keep_words(array_agg(id), array_agg(body)) from new_item where kind = 'ticket';
  end if;
  return null;
end $$;

create or replace function log_item_update() returns trigger language plpgsql as $$
begin
  with pair as materialized (
    select n.kind, n.id, n.seq as no, n.queue, n.state, n.version, n.event_seq, n.last_event, n.last_actor, n.last_data,
           n.updated_at, n.lease_id, o.queue as old_queue, o.state as old_state, o.holder as old_holder,
           n.event_seq > o.event_seq as logged, n.version > o.version as versioned,
           n.lease_id is not null and n.lease_id is distinct from o.lease_id as granted,
           not is_gold(n.look) as counts,
           o.lease_id is not null and n.lease_id is distinct from o.lease_id as ended
      -- full, because that cannot become a nested loop: the plan made for one row is kept for a thousand
      from new_item n full join old_item o on o.kind = n.kind and o.id = n.id
  ), logged as (
    insert into event (kind, item_id, no, seq, type, actor, at, data, version, token, ends)
    select kind, id, no, event_seq, last_event, last_actor, updated_at, last_data,
           -- what its own workflow asked for (`docket.received_by`), that has received already
           case when versioned and id is distinct from current_setting('docket.received_by', true) then version end,
           case when granted then token_hash(lease_id) end,
           case when ended then (
             select g.seq from event g
              where g.kind = pair.kind and g.item_id = pair.id and g.token is not null and g.type <> 'refused'
              order by g.seq desc limit 1) end
      from pair where logged
  ), counted as (
    insert into tally_line (kind, queue, what, was, n, at)
    select kind, l.queue, what, was, sum(l.n), at
      from pair cross join lateral (
        select queue, state as what, case when queue = old_queue then old_state end as was, 1 as n,
               case when granted or state = 'settled' then date_trunc('second', updated_at) end as at
         where state <> old_state or queue <> old_queue
        union all
        select old_queue, old_state, null, -1, null where queue <> old_queue
        union all
        select old_queue, 'lease_expired', null, 1, null
         where ended and lease_end(last_event, last_actor, old_holder) = 'expired') l
     where counts group by 1, 2, 3, 4, 6
  )
  insert into notice (kind, item_id, queue, person, type, data)
  select kind, id, old_queue, old_holder, s.type, s.data from pair
   cross join lateral (select lease_end(last_event, last_actor, old_holder) as why) e
   cross join lateral (
     select 'lease_lost' as type, json_build_object(
              'reason', case when e.why <> 'closed' then e.why
                             when last_event = 'synced' then 'resolved' else last_event end,
              'by', last_actor) as data
      where ended and (last_actor <> old_holder or e.why not in ('settled', 'released', 'transferred'))
     union all
     select 'changed', json_build_object('version', version) where versioned and not ended) s
   where old_holder is not null;
  if exists (select from full_text) then
    perform keep_words(array_agg(n.id), array_agg(n.body)) from new_item n join old_item o using (kind, id)
      where n.kind = 'ticket' and n.content_version is distinct from o.content_version;
  end if;
  return null;
end $$;
