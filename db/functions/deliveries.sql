-- As what a delivery counts: an invitation that was not delivered has ended, and no outcome is missing anywhere.
create or replace function delivery_counts_as(d delivery) returns text language sql immutable parallel safe as $$
  select case when d.type = 'case.invited' and d.state = 'failed' then 'ended' else d.state end
$$;

-- Counts deliveries as lines of the tally: per kind the number in each state, and attempts by their outcome
-- (attempt_delivered, attempt_failed, attempt_pending: a retry follows), for GET /metrics. Each queue also counts its
-- failed ones (delivery_failed).
create or replace function log_delivery() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into tally_line (kind, queue, what, n)
    select 'delivery', d.kind, delivery_counts_as(d), count(*) from new_delivery d group by 2, 3
     union all
    select d.kind, d.queue, 'delivery_failed', count(*) from new_delivery d
     where delivery_counts_as(d) = 'failed' and d.queue <> '' group by 1, 2;
  elsif tg_op = 'DELETE' then
    insert into tally_line (kind, queue, what, n)
    select 'delivery', d.kind, delivery_counts_as(d), -count(*) from old_delivery d group by 2, 3
     union all
    select d.kind, d.queue, 'delivery_failed', -count(*) from old_delivery d
     where delivery_counts_as(d) = 'failed' and d.queue <> '' group by 1, 2;
  else
    insert into tally_line (kind, queue, what, n)
    select 'delivery', kind, what, sum(n) from (
      select kind, delivery_counts_as(after) as what, 1 as n from new_delivery after
      union all select kind, delivery_counts_as(before), -1 from old_delivery before
      union all select kind, 'attempt_' || after.state, after.attempts - before.attempts
                  from new_delivery after full join old_delivery before using (kind, item_id, n)) d
     group by kind, what having sum(n) <> 0
     union all
    select kind, queue, 'delivery_failed', sum(n) from (
      select kind, queue, 1 as n from new_delivery after where delivery_counts_as(after) = 'failed' and queue <> ''
      union all
      select kind, queue, -1 from old_delivery before where delivery_counts_as(before) = 'failed' and queue <> '') f
     group by kind, queue having sum(n) <> 0;
  end if;
  return null;
end $$;
