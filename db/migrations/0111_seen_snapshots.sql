-- What a user's hand-out saw is known exactly: by its snapshot, not by the oldest transaction under way, which a long
-- one holds back, so that what look-back withheld came after all (S4.6).
alter table lease alter seen type pg_snapshot using (seen::text || ':' || seen::text || ':')::pg_snapshot;
alter table look_back
  alter seen type pg_snapshot using (seen::text || ':' || seen::text || ':')::pg_snapshot,
  alter first_seen type pg_snapshot using (first_seen::text || ':' || first_seen::text || ':')::pg_snapshot;
comment on column look_back.seen is
  'unless it came with a transaction that had not been seen when they were given that';
