-- How many items a person may hold is kept by a unique index instead of a lock of the person.
alter table item add column slot bigint;
comment on column item.slot is 'tickets: which of the holds that its holder may have at once this is, from 1; negative: it has run out, and another has its slot';

alter table item disable trigger user;
update item i set slot = s.slot from (
  select id, row_number() over (partition by queue, holder order by granted_at, seq) as slot from item
   where kind = 'ticket' and state = 'held') s
 where i.kind = 'ticket' and i.id = s.id;
alter table item enable trigger user;

drop index item_holder;
create unique index item_holder on item (queue, kind, holder, slot) where state = 'held';
alter table item add constraint item_held_has_slot check ((state = 'held' and kind = 'ticket') = (slot is not null));
