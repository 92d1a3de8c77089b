-- Erasures (services/upkeep/erasures.ts, db/functions/erasures.sql).

-- name: add_erasure
select * from add_erasure(:id, :kind, :itemId, :reason, :actor);

-- name: get_erasure
select * from erasure where id = :id;

-- name: erasure_step
-- moves
select * from erasure_step();
