-- Jobs that are ready again. All others have become ready in the order of their numbers, so that pops can begin behind those that
-- were popped, also while an old transaction keeps their entries in item_ready. Its conditions are written so that only
-- who asks for these jobs in the same words is given this index, and no other.
create index item_back on item (queue, requires_key, rank, seq)
 where kind || '' = 'job' and state || '' = 'ready' and event_seq > 1;
