-- The look-back of each user (S4.6), and blocking tasks that a user goes on with (S4.4).

-- What a user passed by is what they could see when they were given a later task. Clocks cannot say so, because a
-- transaction is seen only when it commits; transactions can.
alter table item add column stocked_by xid8;
comment on column item.stocked_by is
  'the transaction since which an occurrence could be dispatched to its executor; null: since its start, whenever it was made';
alter table lease add column seen xid8;
comment on column lease.seen is 'what older transactions had made was seen when this dispatch was chosen';
create index item_stocked on item (queue, stocked_by) where kind = 'task' and state = 'ready' and room > 0;
-- a user's last completion
create index lease_completed on lease (slot, ended_at) where kind = 'task' and why = 'settled';

-- Who has taken some of a blocking occurrence that is still open: they go on with it before anything else.
create table taken_task (
  person  text not null collate "C",
  item_id text not null collate "C",
  primary key (person, item_id)
);
create index taken_task_of_item on taken_task (item_id);
insert into taken_task
select distinct l.slot, l.item_id from lease l
  join item i on i.kind = 'task' and i.id = l.item_id and i.ended_at is null
  join task t on t.id = split_part(l.item_id, '/', 1) and t.dispatch = 'blocking'
 where l.kind = 'task';

-- it gets an argument more
drop function if exists dispatch_task(item, text, text, text);
