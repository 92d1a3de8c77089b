-- What was decided in a time, for figures about it. A decision costs no entry in such an index.
create index item_ended on item using brin (ended_at) with (pages_per_range = 16, autosummarize = on);
