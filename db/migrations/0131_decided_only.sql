-- Only of what has ended: statements look for open items by `ended_at is null`, and would read the whole table by it.
drop index item_ended;
create index item_ended on item using brin (ended_at) with (pages_per_range = 16, autosummarize = on)
 where ended_at is not null;
