-- The sequencer (S4.8): gives committed events their positions in the feed, 1, 2, 3, … without gaps, each item's in
-- its own order. Reading starts a pass (runtime/feed.ts), so a feed that is not read costs nothing.
--
-- Event ids are drawn in one order and become visible in another, so an id that cannot be seen is remembered as a
-- hole and looked for again in each pass. It is given up when it still cannot be seen after every transaction that may
-- have drawn it has ended: it was rolled back, or a crash skipped it.
--
-- The transaction that drew it had its id by then (a trigger on a changed row draws it), and the pass gets its own id
-- after its snapshot, so all of those have lower ids than the pass. `pg_snapshot_xmax` would be too low a bound: it is
-- one more than the latest transaction that has *ended*, and later ones that still run may have drawn earlier ids.
--
-- Why each item's events keep their order: the second one is written after the commit of the first, so whatever sees
-- the second sees the first, which has the lower id; and a pass numbers what one snapshot sees from the lowest id on.

-- One pass, at most p_limit events, as a transaction of its own.
-- numbered  fewer than p_limit: that was all
-- newest    the last position given out
create or replace function number_events(p_limit integer) returns table (numbered integer, newest bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  v_state feed_state;
  v_ids bigint[];
  v_holes bigint[];
  v_filled bigint[];
  v_oldest xid8;
  v_count integer;
  v_last bigint;
begin
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'number_events has to be a transaction of its own: its id must be newer than its snapshot';
  end if;
  perform pg_advisory_xact_lock(7236003);
  -- what follows has snapshots of its own, which see what the holder before has committed
  select * into strict v_state from feed_state;

  -- one statement, so one snapshot for the holes, for what comes after them, and for which transactions still run
  with seen as materialized (
    select id, hole from (
      (select e.id, h.first as hole from feed_hole h
        cross join lateral (
          select i.id from event i where i.id between h.first and h.last order by i.id limit p_limit) e
        order by e.id limit p_limit)
      union all
      (select i.id, null from event i where i.id > v_state.upto order by i.id limit p_limit)) s
     order by id limit p_limit
  ), placed as (
    insert into feed (seq, event_id) select v_state.newest + row_number() over (order by id), id from seen
  )
  select array_agg(id order by id), array_agg(hole order by id), array_agg(id) filter (where hole is not null),
         pg_snapshot_xmin(pg_current_snapshot())
    into v_ids, v_holes, v_filled, v_oldest from seen;
  v_count := coalesce(cardinality(v_ids), 0);

  if v_count > 0 then
    v_last := greatest(v_state.upto, v_ids[v_count]);
    with range as (
      select first, last, seen_by from feed_hole where first = any (v_holes)
      union all
      select v_state.upto + 1, v_last, pg_current_xact_id() where v_last > v_state.upto
    ), cut as (
      select s.first, s.seen_by, n.id as at
        from unnest(v_ids, v_holes) as n (id, hole) join range s on s.first = coalesce(n.hole, v_state.upto + 1)
      union all
      select first, seen_by, last + 1 from range
    ), piece as (
      select lag(at, 1, first - 1) over (partition by first order by at) + 1 as first, at - 1 as last, seen_by from cut
    )
    insert into feed_hole as h (first, last, seen_by) select first, last, seen_by from piece where first <= last
    on conflict (first) do update set last = excluded.last;
    -- where the first id of a hole has come, what is left of it stands under another
    delete from feed_hole where first = any (v_filled);
    update feed_state set upto = v_last, newest = v_state.newest + v_count;
  end if;

  -- a full pass has not looked at what comes after its last event
  delete from feed_hole where seen_by < v_oldest and (v_count < p_limit or last < v_ids[v_count]);
  return query select v_count, v_state.newest + v_count;
end $$;
