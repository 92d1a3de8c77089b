-- What follows from a transition is derived by a trigger, whose body is in db/functions/derive.sql; when a ticket is
-- escalated next is stored, so that its wake time is computed without its queue.
alter table item add column escalates_at timestamptz;
comment on column item.escalates_at is 'when the next step of its queue''s escalations is due';
update item i
   set escalates_at = (
     select i.first_available_at + make_interval(secs => min(s."afterSeconds"))
       from jsonb_to_recordset(q.escalations) as s ("afterSeconds" double precision)
      where s."afterSeconds" > i.escalated_seconds)
  from queue q
 where q.kind = i.kind and q.name = i.queue and q.escalations <> '[]' and i.ended_at is null and i.kind = 'ticket';

-- A generated column is computed anew in each update of a table that has a row trigger.
alter table item alter requires_key drop expression, alter requires_key set default '';

create or replace function derive_item() returns trigger language plpgsql as 'begin return new; end';
create trigger item_derived before update on item for each row execute function derive_item();
