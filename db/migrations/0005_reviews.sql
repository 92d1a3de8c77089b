-- Reviews (S1): what audits say about a review's text, pictures and replies. Three stores say so, which
-- change together or not at all: the record (one document), the index (a row per target), the base row.

-- A time as it is shown: UTC with milliseconds.
create function iso_time(at timestamptz) returns text language sql immutable strict parallel safe
  return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create table review (
  id         text primary key collate "C",
  record     jsonb not null,
  body       json,
  callback   jsonb,
  version    bigint not null default nextval('item_version'),
  -- the number of its newest log line
  log_seq    integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- its place in lists
  seq        bigint generated always as identity unique
);

create table review_index (
  review_id  text not null collate "C",
  kind       text not null check (kind in ('text', 'picture', 'reply')),
  -- '' for the text
  target_id  text not null collate "C",
  position   integer not null,
  status     integer not null,
  -- of the callback that was applied last; null: none has been
  audit_time timestamptz,
  arrival    bigint,
  -- taken out by an edit: callbacks for it are late for ever
  removed_at timestamptz,
  primary key (review_id, kind, target_id),
  constraint review_index_applied check ((audit_time is null) = (arrival is null))
);
create unique index review_picture on review_index (target_id) where kind = 'picture' and removed_at is null;
-- a callback that knows only the picture, after that has gone
create index review_picture_ever on review_index (target_id, removed_at) where kind = 'picture';

create table review_base (
  review_id  text primary key collate "C",
  status     integer not null,
  pictures   integer not null,
  replies    integer not null,
  version    bigint not null,
  updated_at timestamptz not null
);

-- What came, in the order in which it came, and what became of it: the inbox and the log are one table,
-- so that nothing can be in both or in neither. Lines get their number when their outcome is known.
create table review_callback (
  arrival     bigint generated always as identity primary key,
  review_id   text not null collate "C",
  -- null: an edit
  callback_id text collate "C",
  kind        text not null check (kind in ('text', 'picture', 'reply', 'edit')),
  target_id   text collate "C",
  status      integer,
  audit_time  timestamptz,
  received_at timestamptz not null default clock_timestamp(),
  -- the same callback_id had come before
  repeated    boolean not null default false,
  outcome     text not null default 'pending' check (outcome in ('pending', 'applied', 'expired', 'duplicate', 'edited')),
  reason      text,
  seq         integer,
  applied_at  timestamptz,
  before      jsonb,
  after       jsonb,
  version     bigint,
  constraint review_callback_resolved check ((outcome = 'pending') = (seq is null) and (seq is null) = (applied_at is null))
);
create unique index review_callback_once on review_callback (review_id, callback_id) where not repeated;
create index review_callback_pending on review_callback (review_id, arrival) where outcome = 'pending';
create unique index review_callback_log on review_callback (review_id, seq) where seq is not null;

-- A change that a receiver is told later: what it was, whatever has come since.
alter table delivery add column body json;
create index delivery_pending on delivery (kind, item_id, n) where state = 'pending';

-- Everything that a workflow can be told of, in one shape.
create view told as
select kind, id, queue, state, version, wake_at, holder, telling, event_seq, last_event, last_actor, updated_at from item
union all
select 'review', id, '', 'ready', version, null, null, true, log_seq, 'received', 'system', updated_at from review;
