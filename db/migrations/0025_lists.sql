-- Indexes for what lists filter by: each list reads about as many rows as it shows, however many others there are. A held
-- item is in neither of them, so a claim writes nothing for lists.

-- a queue's items in one state, newest first; those that are held are few and found by item_holder
create index item_state on item (queue, kind, state, created_at, seq) where state <> 'held';
-- what a reviewer decided, newest first
create index item_decided_by on item (queue, ended_by, created_at, seq) where kind = 'ticket' and state = 'settled';

-- A list of groups shows how many members each has; with 100,000 members each, counting takes too long.
alter table task_group add column size integer not null default 0;
update task_group g set size = (select count(*) from member m where m.group_id = g.id);

-- A queue or topic that was deleted, being empty: not shown until it is used again.
alter table queue add column deleted_at timestamptz;
