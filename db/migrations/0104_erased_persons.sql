-- Erasures of persons: how far they have come, and by what erased names are known where they exclude from something.
alter table erasure
  add column person text collate "C", add column stands_for text collate "C",
  add column place integer not null default 0, add column block bigint not null default 0,
  add column passes integer not null default 0, add column again boolean not null default false,
  drop constraint erasure_target,
  add constraint erasure_target
    check ((kind is null) = (item_id is null) and (kind is null) = (stands_for is not null)),
  add constraint erasure_forgets check (state = 'running' or person is null);
create unique index erasure_of_person on erasure (person) where person is not null;
comment on column erasure.person is 'the name that is replaced; null when that is done';
comment on column erasure.place is 'of a person: the table that it has come to (erased_columns), and there the block';
comment on column erasure.again is 'of a person: this pass has found the name';

create table erasure_key (
  one boolean primary key default true check (one),
  key bytea not null
);
insert into erasure_key (key) values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
create table erased_name (
  stands_for text collate "C" primary key,
  hash       bytea not null
);
create index erased_name_hash on erased_name (hash);
create table erased_exclusion (
  stands_for text collate "C" not null,
  kind       text collate "C" not null,
  item_id    text collate "C" not null,
  primary key (stands_for, kind, item_id)
);
comment on table erased_exclusion is 'open items that exclude somebody whose name was erased';
-- the person, and what stands for them where their name was erased; `ids` has the same of the accounts
alter type juror_seen add attribute persons text[];
