-- Each hand-out and each end of an item wrote into an index of all items in the order of their creation. Those of one state
-- are in item_state, the few that are held in item_holder; the order of all is these merged (db/functions/queues.sql).
drop index item_created;
create index case_created on item (queue, created_at, seq) where kind = 'case';
