-- Deleted queues and topics. A deleted one leaves a row with the defaults that is not shown: an item that another node adds
-- at this moment refers to it, and from then on the queue exists again (docs/decisions/0016-deleted-queues-leave-a-row.md).
create or replace function is_there(q queue) returns boolean language sql stable as $$
  select q.deleted_at is null or exists (select from item i where i.queue = q.name and i.kind = q.kind)
$$;

-- Only one that has no items, open or final, and no schedules.
-- @returns deleted, used, not_found
create or replace function delete_queue(p_kind text, p_name text) returns text language plpgsql as $$
declare
  q queue;
begin
  select * into q from queue where kind = p_kind and name = p_name for update;
  if not found or not is_there(q) then return 'not_found'; end if;
  if exists (select from item i where i.queue = p_name and i.kind = p_kind)
     or p_kind = 'job' and exists (select from schedule s where s.topic = p_name) then return 'used'; end if;
  -- made anew, so that no setting is left of it
  delete from queue where kind = p_kind and name = p_name;
  insert into queue (kind, name, deleted_at) values (p_kind, p_name, clock_timestamp());
  return 'deleted';
end $$;
