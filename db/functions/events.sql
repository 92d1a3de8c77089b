-- The number of the first event at or after an instant, by bisection. Numbers follow time except for the length of a
-- transaction, so a caller subtracts a minute from the instant and compares the events' own times.
create or replace function event_from(p_at timestamptz) returns bigint language plpgsql stable as $$
declare
  v_low bigint;
  v_high bigint;
  v_middle bigint;
  v_at timestamptz;
begin
  select min(id), max(id) + 1 into v_low, v_high from event;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select at into v_at from event where id >= v_middle order by id limit 1;
    if not found or v_at >= p_at then v_high := v_middle; else v_low := v_middle + 1; end if;
  end loop;
  return coalesce(v_low, 0);
end $$;

-- The events of a time, the newest p_limit of them.
create or replace function events_between(p_from timestamptz, p_to timestamptz, p_limit integer) returns setof event
language plpgsql stable as $$
declare
  v_first bigint := event_from(p_from - interval '1 minute');
  v_last bigint := event_from(p_to + interval '1 minute');
begin
  return query select * from event where id >= v_first and id < v_last order by id desc limit p_limit;
end $$;
