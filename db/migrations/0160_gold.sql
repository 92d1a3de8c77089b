-- Gold tickets (docs/guides/gold.md): tickets with known answers. Each person is handed a copy among the others.
alter table queue add column gold jsonb;
comment on column queue.gold is 'at what share gold is handed out; null: at none, and no copy is open';

create table gold (
  queue text collate "C" not null,
  id text collate "C" not null,
  seq bigint generated always as identity,
  body json not null,
  answer json not null,
  subject text collate "C",
  priority bigint,
  requires text[] collate "C" not null,
  retired boolean not null default false,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (queue, id)
);
comment on column gold.retired is 'most have got it wrong since it was changed, so it is handed out no more';

-- A row for each person and gold ticket, which stays when the copy, a row of item, is cleared.
create table gold_copy (
  id text collate "C" primary key,
  queue text collate "C" not null,
  gold text collate "C" not null,
  person text collate "C" not null,
  outcome text collate "C" check (outcome in ('right', 'wrong', 'skipped', 'none')),
  at timestamptz not null default clock_timestamp(),
  disputed boolean not null default false,
  unique (queue, gold, person)
);
create index gold_copy_person on gold_copy (person);
comment on column gold_copy.outcome is 'null: it is open';
comment on column gold_copy.at is 'of its hand-out, then of its outcome';
