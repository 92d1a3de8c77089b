-- Second looks (docs/guides/quality.md): a look is a ticket of its own, and its end writes into the ticket that it is
-- about.
alter table item add column look jsonb;
comment on column item.look is
  'of a look: {of, queue, deciders}; of what was looked at: {version, looks, standing} (contract/items.ts)';

alter table queue add column second jsonb;
comment on column queue.second is 'when its decisions get a second look; null: only when one is asked for';

-- What draws the checks: nobody who does not know it can tell which decisions get one.
create table draw_key (
  one boolean primary key default true check (one),
  key bytea not null
);
insert into draw_key (key) values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

-- What the looks at a decider's tickets have found, older ones counting less (queue setting `second.adapt`).
create table look_record (
  queue      text collate "C" not null,
  decider    text collate "C" not null,
  upheld     double precision not null,
  overturned double precision not null,
  primary key (queue, decider)
);
