-- Which part of the log an item or a review belongs to, of four (runtime/followers/shards.ts).
create or replace function shard_of(p_kind text, p_id text) returns integer language sql immutable parallel safe as $$
  select hashtext(p_kind || '/' || p_id) & 3
$$;

-- Raised when PostgreSQL or Temporal came back in an older state: versions of a later epoch are newer than all before.
create or replace function current_epoch() returns bigint language sql stable parallel safe as $$
  select coalesce((select epoch from reconciliation), 0)
$$;
