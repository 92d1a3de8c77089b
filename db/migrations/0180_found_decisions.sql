-- Lists by what few decisions have (db/functions/lists.sql): only these pay for an entry.
create index item_overturned on item (queue, created_at, seq) where kind = 'ticket' and look ? 'standing';
create index item_automated on item (queue, automation, created_at, seq)
 where kind = 'ticket' and automation is not null;
