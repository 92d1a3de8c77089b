-- The core that every kind of item shares: queues, items, leases, events, the outbox.

-- One sequence for all versions: a version names one transition of one item for ever,
-- so it is also the key of the outbox row that tells the workflow about it.
create sequence item_version;

create table queue (
  kind             text not null check (kind in ('ticket', 'job', 'case', 'task')),
  name             text not null,
  paused           boolean not null default false,
  lease_seconds    double precision not null default 300 check (lease_seconds > 0),
  level_seconds    double precision check (level_seconds > 0),
  escalations      jsonb not null default '[]',
  reclaimed_first  boolean not null default false,
  max_held         integer not null default 1 check (max_held > 0),
  max_attempts     integer check (max_attempts > 0),
  deadline_seconds double precision check (deadline_seconds >= 0),
  callback         jsonb,
  form             json,
  settings_version bigint not null default nextval('item_version'),
  -- true while waiting items still carry rank, deadline or wake time of older settings
  refresh_pending  boolean not null default false,
  refresh_taken_at timestamptz,
  created_at       timestamptz not null default clock_timestamp(),
  updated_at       timestamptz not null default clock_timestamp(),
  seq              bigint generated always as identity,
  primary key (kind, name)
);
-- lists, newest first
create unique index queue_newest on queue (kind, seq);
comment on column queue.level_seconds is 'ageing: seconds of waiting worth one priority level; null = strict priority';

-- The skills of an item as one sortable key, so that the ready index can be read per key.
-- Names cannot contain a comma, so the key is unambiguous.
create function requires_key(requires text[]) returns text
  language sql immutable strict parallel safe
  return coalesce((select string_agg(r, ',' order by r collate "C") from (select distinct unnest(requires) as r) s), '');

create table item (
  kind               text not null,
  id                 text not null collate "C",
  queue              text not null collate "C",
  seq                bigint generated always as identity,
  state              text not null,
  priority           bigint not null default 0,
  rank               bigint not null,
  front              boolean not null default false,
  body               json not null,
  content_hash       bytea not null,
  requires           text[] not null default '{}',
  requires_key       text not null collate "C" generated always as (requires_key(requires)) stored,
  exclude            text[] not null default '{}',
  skipped            text[] not null default '{}',
  callback           jsonb,
  version            bigint not null,
  attempts           integer not null default 0,
  escalated_seconds  double precision not null default -1,
  created_at         timestamptz not null,
  available_at       timestamptz not null,
  first_available_at timestamptz not null,
  deadline_at        timestamptz,
  own_deadline       boolean not null default false,
  wake_at            timestamptz,
  -- the live lease of an exclusive item
  lease_id           text,
  holder             text,
  granted_at         timestamptz,
  expires_at         timestamptz,
  lease_follows      text,
  lease_end          text check (lease_end in ('settled', 'released', 'revoked', 'expired', 'transferred', 'closed')),
  -- the end
  ended_at           timestamptz,
  ended_by           text,
  end_reason         text,
  result             json,
  result_hash        bytea,
  settled_token      text,
  next_wanted        boolean not null default false,
  telling            boolean not null default false,
  -- the newest event, from which the log trigger writes the history
  event_seq          integer not null,
  last_event         text not null,
  last_actor         text not null,
  last_data          json,
  updated_at         timestamptz not null,
  primary key (kind, id),
  constraint item_state check (state in
    ('delayed', 'ready', 'held', 'buried', 'settled', 'invalidated', 'expired', 'dead')),
  -- one live lease per exclusive item: the row has room for one, and only while it is held
  constraint item_held_has_lease check (
    (state = 'held') = (lease_id is not null)
    and (lease_id is null) = (holder is null)
    and (lease_id is null) = (granted_at is null)
    and (lease_id is null) = (expires_at is null)),
  constraint item_final_has_end check (
    (state in ('settled', 'invalidated', 'expired', 'dead')) = (ended_at is not null)
    and (ended_at is null) = (ended_by is null)),
  constraint item_settled_has_result check ((state = 'settled') = (result is not null)),
  constraint item_final_sleeps check (ended_at is null or wake_at is null),
  constraint item_open_is_not_told check (not telling or ended_at is not null),
  constraint item_due_has_wake check (
    (state <> 'delayed' or wake_at is not null) and (state <> 'held' or wake_at is not null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05,
        autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 1);

-- All of these begin with the queue and not with the kind: before the first ANALYZE an index on
-- (kind, …) looks as good as the primary key to the planner, for a look-up by (kind, id).

-- A claim reads this from its head; nothing else may make it scan further.
create index item_ready on item (queue, kind, requires_key, rank, seq) where state = 'ready';
-- stats: how long the oldest one waits
create index item_oldest on item (queue, kind, first_available_at) where state = 'ready';
-- when the next delayed one is due in a queue
create index item_delayed on item (queue, kind, available_at) where state = 'delayed';
-- both clocks: what is due
create index item_wake on item (wake_at) where wake_at is not null;
-- what a person holds in a queue
create index item_holder on item (queue, kind, holder) where state = 'held';
-- lists, newest first, and the walk that refreshes a queue after its settings changed
create index item_created on item (queue, kind, created_at, seq);

create table lease (
  token      text primary key collate "C",
  kind       text not null,
  item_id    text not null collate "C",
  queue      text not null collate "C",
  holder     text not null collate "C",
  -- '' for exclusive items: at most one live lease; the person for items with capacity
  slot       text not null default '' collate "C",
  granted_at timestamptz not null,
  ended_at   timestamptz,
  why        text check (why in ('settled', 'released', 'revoked', 'expired', 'transferred', 'closed')),
  ended_by   text,
  -- the token whose decision asked for this lease as its next one (S0.8)
  follows    text,
  refused_at timestamptz,
  constraint lease_end check ((ended_at is null) = (why is null) and (ended_at is null) = (ended_by is null)),
  constraint lease_order check (ended_at >= granted_at)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
create unique index lease_live on lease (kind, item_id, slot) where ended_at is null;
create unique index lease_follows on lease (follows) where follows is not null;
create index lease_granted on lease (kind, queue, granted_at);

create table event (
  kind    text not null,
  item_id text not null collate "C",
  seq     integer not null,
  type    text not null,
  actor   text not null,
  at      timestamptz not null,
  data    json,
  primary key (kind, item_id, seq)
) with (autovacuum_vacuum_insert_scale_factor = 0.2);

-- What the workflows have not been told yet. A row lives until Temporal acknowledged it.
create table outbox (
  version bigint primary key,
  kind    text not null,
  item_id text not null,
  node    text not null,
  at      timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index outbox_node on outbox (node, version);

create table node (
  id         text primary key,
  url        text,
  role       text not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at    timestamptz not null default clock_timestamp()
);

-- What a holder must hear at once: a lease that somebody else ended, a held item that changed.
create table notice (
  seq     bigint generated always as identity primary key,
  at      timestamptz not null default clock_timestamp(),
  kind    text not null,
  item_id text not null,
  queue   text not null,
  person  text not null,
  type    text not null check (type in ('lease_lost', 'changed')),
  data    json not null
);
create index notice_at on notice (at);

-- Counts per queue and state as a sum of signed rows: exact in every snapshot, and nobody waits
-- for a counter. Compacted in the background.
create table tally (
  kind  text not null,
  queue text not null,
  what  text not null,
  n     bigint not null
);
create index tally_queue on tally (kind, queue, what) include (n);

-- An item whose due transition fails: it is left alone until then, the rest goes on.
create table parked (
  kind    text not null,
  item_id text not null,
  until   timestamptz not null,
  error   text not null,
  primary key (kind, item_id)
);

create table delivery (
  kind       text not null,
  item_id    text not null,
  n          integer not null,
  type       text not null,
  version    bigint not null,
  url        text not null,
  state      text not null check (state in ('pending', 'delivered', 'failed')),
  attempts   integer not null default 0,
  status     integer,
  error      text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (kind, item_id, n)
);

-- Operators' commands that were carried out, keyed by run and number: a second time is a no-op.
create table operator_command (
  key     text primary key,
  kind    text not null,
  item_id text not null,
  at      timestamptz not null default clock_timestamp()
);

create table api_key (
  id         text primary key,
  name       text not null,
  role       text not null check (role in ('producer', 'reviewer', 'agent', 'consumer', 'admin')),
  subject    text,
  hash       bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz,
  constraint api_key_reviewer_has_subject check (role <> 'reviewer' or subject is not null)
);

-- Short-lived tickets for event streams, because a browser's EventSource cannot send a header.
create table stream_ticket (
  hash       bytea primary key,
  key_id     text not null,
  actor      text not null,
  role       text not null,
  subject    text,
  expires_at timestamptz not null
);
