-- Workflows elsewhere that wait for the end of an item (B.1). An item's end sets `wake_at` in its own transaction
-- (derive_item); a row stays until its workflow has read the outcome, and retention leaves the item until then.
create table wait (
  workflow_id text collate "C" primary key,
  kind        text collate "C" not null,
  item_id     text collate "C" not null,
  run         integer not null,
  created_at  timestamptz not null default clock_timestamp(),
  wake_at     timestamptz,
  answered    boolean not null default false
);
comment on column wait.wake_at is 'when its workflow is signalled next; null: the item is open';
comment on column wait.answered is 'its workflow has read the outcome';
create index wait_item on wait (kind, item_id);
create index wait_wake on wait (wake_at) where wake_at is not null;
