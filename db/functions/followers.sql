-- Which part of the log an item or a review belongs to, of four (runtime/followers/shards.ts).
create or replace function shard_of(p_kind text, p_id text) returns integer language sql immutable parallel safe
  return hashtext(p_kind || '/' || p_id) & 3;

-- Whether something of an item is still to be published to its workflow: a mark, or a line of the log.
create or replace function is_on_its_way(p_kind text, p_id text) returns boolean language sql stable as $$
  select exists (select from unpublished where kind = p_kind and item_id = p_id)
      or exists (
        select from event
         where kind = p_kind and item_id = p_id and version is not null
           and id > (select least(outcomes, rest, idle) from log_shard where shard = shard_of(p_kind, p_id)))
$$;

-- Raised when PostgreSQL or Temporal came back in an older state: versions of a later epoch are newer than all before.
create or replace function current_epoch() returns bigint language sql stable parallel safe as $$
  select coalesce((select epoch from reconciliation), 0)
$$;
