-- Numbers are given before the commit, so a notice can appear behind one with a higher number that a reader has
-- seen. With the snapshot in which each was written, a reader that resumes is given those too.
alter table notice add column xid xid8, add column snap pg_snapshot;
alter table notice alter column xid set default pg_current_xact_id(), alter column snap set default pg_current_snapshot();
