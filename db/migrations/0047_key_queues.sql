-- Keys bound to queues, topics, courts and groups, and keys that end by themselves.
alter table api_key
  -- names, or beginnings of names with a * at the end; null: all
  add column queues text[] check (cardinality(queues) > 0),
  add column expires_at timestamptz,
  add column seq bigint generated always as identity;
create unique index api_key_newest on api_key (seq);
