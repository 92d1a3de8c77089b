-- What the desk shows beside a ticket, and looks that were drawn, of which their decider must not know where gold is.
alter table queue add column desk jsonb;
comment on column queue.desk is 'what the desk alone reads: highlight, guidelines; null: neither';

create index item_drawn on item (queue) where look ? 'drawn' and ended_at is null;
