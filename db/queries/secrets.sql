-- Secrets of callbacks (runtime/secrets.ts).

-- name: sealed_with
-- How many secrets of each sort are sealed with the key of each name; those of items and reviews only with :all.
select substring(s.secret from '^sealed:([0-9a-f]{8}):') as "name!", s.what as "what!", count(*)::integer as "n!"
  from stored_secrets(:all::boolean) s where s.secret like 'sealed:%'
 group by 1, 2 order by 1, 2;

-- name: secrets_to_reseal
-- The next thousand after :after that the key of :name has not sealed, as they are stored.
select distinct s.secret as "secret!" from stored_secrets(true) s
 where s.secret > :after and not starts_with(s.secret, 'sealed:' || :name || ':')
 order by 1 limit 1000;

-- name: reseal :moves :unseen
-- A row that was set again meanwhile has another secret, and stays.
with queues as (
  update queue set callback = resealed(callback, :old, :new), push = resealed(push, :old, :new)
   where callback ->> 'secret' = any (:old::text[]) or push ->> 'secret' = any (:old) returning 1
), courts as (
  update court set invitation_callback = resealed(invitation_callback, :old, :new)
   where invitation_callback ->> 'secret' = any (:old) returning 1
), tasks as (
  update task set callback = resealed(callback, :old, :new) where callback ->> 'secret' = any (:old) returning 1
), reviews as (
  update review set callback = resealed(callback, :old, :new) where callback ->> 'secret' = any (:old) returning 1
), items as (
  update item set callback = resealed(callback, :old, :new::text[])
   where callback is not null and callback ->> 'secret' = any (:old) returning 1
)
select ((select count(*) from queues) + (select count(*) from courts) + (select count(*) from tasks)
      + (select count(*) from reviews) + (select count(*) from items))::integer as "n!";
