-- Counts deliveries as lines of the tally: per kind the number in each state, and attempts by their outcome
-- (attempt_delivered, attempt_failed, attempt_pending: a retry follows), for GET /metrics. Each queue also counts its
-- failed ones (delivery_failed).
create or replace function log_delivery() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into tally_line (kind, queue, what, n)
    select 'delivery', kind, state, count(*) from new_delivery group by kind, state
     union all
    select kind, queue, 'delivery_failed', count(*) from new_delivery where state = 'failed' and queue <> ''
     group by kind, queue;
  elsif tg_op = 'DELETE' then
    insert into tally_line (kind, queue, what, n)
    select 'delivery', kind, state, -count(*) from old_delivery group by kind, state
     union all
    select kind, queue, 'delivery_failed', -count(*) from old_delivery where state = 'failed' and queue <> ''
     group by kind, queue;
  else
    insert into tally_line (kind, queue, what, n)
    select 'delivery', kind, what, sum(n) from (
      select kind, state as what, 1 as n from new_delivery
      union all select kind, state, -1 from old_delivery
      union all select n.kind, 'attempt_' || n.state, n.attempts - o.attempts
                  from new_delivery n
                  full join old_delivery o on o.kind = n.kind and o.item_id = n.item_id and o.n = n.n) d
     group by kind, what having sum(n) <> 0
     union all
    select kind, queue, 'delivery_failed', sum(n) from (
      select kind, queue, 1 as n from new_delivery where state = 'failed' and queue <> ''
      union all select kind, queue, -1 from old_delivery where state = 'failed' and queue <> '') f
     group by kind, queue having sum(n) <> 0;
  end if;
  return null;
end $$;
