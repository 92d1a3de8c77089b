-- Tasks: what clients pull (S4). An occurrence of a task is an item with capacity whose queue is the executor; a
-- dispatch is a lease on it, its token the log id. A rotating task is an item too, of kind 'rotation', whose wake time
-- is its next occurrence, so that the two clocks act on it as on everything else.

alter table item add column closing boolean not null default false;
comment on column item.closing is 'nothing more of it is handed out; it ends when the last of its holders has';

alter table item add constraint item_task_has_stock check (kind <> 'task' or room is null or room >= 0);

alter table lease
  add column given json,
  add column result_hash bytea;
comment on column lease.given is 'what the holder was given, where the item may change under it';

-- what a client's pull walks through: what is due and has stock, by start
create index item_stock on item (queue, rank, seq) where kind = 'task' and state = 'ready' and room > 0;
-- one unfinished dispatch a user
create unique index lease_one_task on lease (slot) where kind = 'task' and ended_at is null;
-- an occurrence's dispatches, and whether a user had it
create index lease_of_task on lease (item_id, slot) where kind = 'task';

create table task_template (
  id           text primary key collate "C",
  seq          bigint generated always as identity unique,
  name         text not null,
  params       json not null,
  content_hash bytea not null,
  created_at   timestamptz not null default clock_timestamp()
);

-- `id` and `person` are without their prefixes (uid_, gid_), `given_as` as they were sent.
create table task_group (
  id         text primary key collate "C",
  seq        bigint generated always as identity unique,
  given_as   text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create table member (
  person   text not null collate "C",
  group_id text not null collate "C",
  given_as text not null,
  primary key (person, group_id)
);
create index member_of_group on member (group_id, person);

create table task (
  id               text primary key collate "C",
  seq              bigint generated always as identity,
  type             text not null check (type in ('once', 'rotate')),
  -- as it was sent, and as clients are found by it
  executor         text not null,
  queue            text not null collate "C",
  start_time       timestamptz not null,
  every_minutes    integer check (every_minutes > 0),
  daily_time       text check (daily_time ~ '^\d\d:\d\d$'),
  every_days       integer not null check (every_days > 0),
  timezone         text not null,
  template_id      text not null,
  params           json not null,
  dispatch_times   integer not null check (dispatch_times > 0),
  dispatch         text not null check (dispatch in ('each-once', 'blocking')),
  catch_up         text not null check (catch_up in ('all', 'newest')),
  lookback_seconds double precision not null check (lookback_seconds >= 0),
  answer_seconds   double precision check (answer_seconds > 0),
  end_time         timestamptz,
  callback         jsonb,
  state            text not null default 'active' check (state in ('active', 'deleted')),
  content_hash     bytea not null,
  -- occurrences up to then have been made
  made_until       timestamptz not null default '-infinity',
  -- counts its changes
  revision         integer not null default 1,
  created_at       timestamptz not null default clock_timestamp(),
  updated_at       timestamptz not null default clock_timestamp(),
  constraint task_rhythm check (
    case type when 'once' then every_minutes is null and daily_time is null
              else (every_minutes is null) <> (daily_time is null) end)
);
-- lists, oldest start first, of all or of an executor
create index task_start on task (start_time, seq);
create index task_executor on task (queue, start_time, seq);

-- the dispatch log: of a user, of a task (by the event's own key), of all
create index event_dispatch_user on event ((data ->> 'person'), at, item_id, seq)
  where kind = 'task' and type in ('dispatched', 'completed', 'returned');
create index event_dispatch on event (at, item_id, seq)
  where kind = 'task' and type in ('dispatched', 'completed', 'returned');
