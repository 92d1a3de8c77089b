-- The order of waiting items, smaller first; `seq` breaks ties (S0.1, S0.2).
-- Tickets: microseconds since 2020 at which the item first became available, less its priority.
-- With ageing one level is worth level_seconds of waiting, so any two tickets keep their order for
-- ever and no sweep is needed. Strict priority is a level of 2^51 µs (71 years). `front` puts
-- reclaimed items before all others: 2^62 is more than 1000 strict levels and the time together.
create or replace function item_rank(
  p_kind text, p_priority bigint, p_since timestamptz, p_level_seconds double precision, p_front boolean
) returns bigint language sql stable parallel safe as $$
  select case when ranks_by_number(p_kind) then p_priority
    else (extract(epoch from p_since) * 1000000)::bigint - 1577836800000000
      - case when p_level_seconds is null then p_priority * 2251799813685248
             else (p_priority * p_level_seconds * 1000000)::bigint end
      - case when p_front then 4611686018427387904 else 0 end
  end
$$;

-- The next step of a queue's escalations that this item has not reached, or null. plpgsql, because
-- most queues have none: the first line is all that runs then, and nothing is planned.
create or replace function next_escalation(
  p_escalations jsonb, p_since timestamptz, p_escalated_seconds double precision
) returns timestamptz language plpgsql stable parallel safe as $$
begin
  if p_escalations = '[]'::jsonb then return null; end if;
  return (
    select p_since + make_interval(secs => min(s."afterSeconds"))
      from jsonb_to_recordset(p_escalations) as s("afterSeconds" double precision)
     where s."afterSeconds" > p_escalated_seconds);
end $$;

-- When an open item is beyond its queue's target; infinity: its history has that already (S0.5).
create or replace function overdue_time(
  p_overdue_at timestamptz, p_since timestamptz, p_service_seconds double precision
) returns timestamptz language sql stable parallel safe
  return case when p_overdue_at = 'infinity' then p_overdue_at
              else p_since + make_interval(secs => p_service_seconds) end;

-- When something is due by itself for an open item: the one instant both clocks act on.
create or replace function item_wake(
  p_state text, p_available_at timestamptz, p_expires_at timestamptz,
  p_deadline_at timestamptz, p_next_escalation timestamptz
) returns timestamptz language sql immutable parallel safe
  return least(
    case p_state when 'delayed' then p_available_at when 'held' then p_expires_at end,
    p_deadline_at, p_next_escalation);
