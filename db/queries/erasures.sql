-- Erasures (services/upkeep/erasures.ts, db/functions/erasures.sql).

-- name: get_erasure
select * from erasure where id = :id;

-- name: add_person_erasure
-- Of several calls the first makes it, and the others are answered the same one.
insert into erasure (id, person, stands_for, reason, actor) values (:id, :person, :standsFor, :reason, :actor)
on conflict (person) where person is not null do update set person = excluded.person returning *;

-- name: excluded_by_hash
-- Open items from which the erased name is excluded by its hash.
select count(*)::integer as "n!" from erased_exclusion where stands_for = :standsFor;
