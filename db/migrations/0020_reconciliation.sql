-- Bringing Temporal back to what PostgreSQL says, when Temporal's store was lost, replaced or restored.

-- How far the newest pass over all rows has come, and for which store of Temporal it was made.
create table reconciliation (
  one         boolean primary key default true check (one),
  -- the id that Temporal gave its namespace: another one is another store
  store       text not null,
  -- what is being walked (db/functions/reconcile.sql); null: the pass is complete
  stage       text,
  -- the last row that was looked at
  after_kind  text not null default '',
  after_id    text not null default '',
  after_n     integer not null default 0,
  started_at  timestamptz not null default clock_timestamp(),
  finished_at timestamptz
);

-- Schedules and repeated deliveries that Temporal may have otherwise than their rows say. A row lives until Temporal was
-- brought to what the rows say; each change in progress has one of its own.
create table resync (
  id     bigint generated always as identity primary key,
  what   text not null check (what in ('schedule', 'delivery')),
  -- a schedule's topic and name; a delivery's kind, item and number
  parent text not null,
  name   text not null,
  n      integer not null default 0,
  -- when a process last took it up
  at     timestamptz not null default clock_timestamp()
);
create index resync_at on resync (at);

-- final items whose outcome is yet to be delivered: a reconciliation takes them first
create index item_telling on item (kind, id) where telling;
