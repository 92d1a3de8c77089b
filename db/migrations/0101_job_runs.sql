-- The id of a job that is over may begin anew: its next run. An event carries the number of its item, or of its run, so
-- that no two ever share an event's id in the feed.
alter table item add column run integer not null default 1;
comment on column item.run is 'jobs: how often this id has begun';
comment on column item.end_reason is 'why it ended; of an open job, why it was last given back';
alter table event add column no bigint;
comment on column event.no is 'seq of the item when this was written; null: by an earlier release';
alter table queue add column ids text collate "C" not null default 'reuse'
  constraint queue_ids check (ids in ('reuse', 'once'));

-- Runs that others have followed, until retention clears them.
create table job_run (
  number        bigint primary key,
  id            text collate "C" not null,
  run           integer not null,
  queue         text collate "C" not null,
  ended_at      timestamptz not null,
  last_seq      integer not null,
  settled_token bytea,
  next_id       text collate "C",
  record        json not null
);
create unique index job_run_id on job_run (id, run);
create index job_run_ended on job_run (queue, ended_at, number);
comment on column job_run.last_seq is 'number of its last event';
comment on column item.next_id is
  'tickets: the next one that its decision got; jobs: the token of what its finish got; null: none';
comment on column job_run.record is 'what the archive keeps of it';

-- What adds were called by: a repeated one is the run that it began or met.
create table job_key (
  id  text collate "C" not null,
  key text collate "C" not null,
  run integer not null,
  primary key (id, key)
);
