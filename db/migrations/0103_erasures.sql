-- Erasures: who asked for them, and how far they have come. What was erased leaves its row as a skeleton.
create table erasure (
  id          text collate "C" primary key,
  seq         bigint generated always as identity,
  kind        text collate "C" check (kind in ('ticket', 'job', 'case', 'task', 'review')),
  item_id     text collate "C",
  reason      text collate "C" not null,
  actor       text collate "C" not null,
  state       text collate "C" not null default 'running' check (state in ('running', 'done')),
  position    text collate "C",
  items       integer not null default 0,
  events      integer not null default 0,
  created_at  timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  constraint erasure_target check ((kind is null) = (item_id is null)),
  constraint erasure_end check ((state = 'done') = (finished_at is not null))
);
create unique index erasure_of_item on erasure (kind, item_id) where state = 'running';
comment on column erasure.position is 'how far it has come; null: it has not begun';

alter table item add column erased boolean not null default false;
alter table review add column erased boolean not null default false;
alter table task add column erased boolean not null default false;
