-- Filters of the list of tickets that people keep under a name.
create table saved_view (
  owner      text collate "C" not null,
  name       text collate "C" not null,
  seq        bigint generated always as identity,
  filter     jsonb not null,
  shared     boolean not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (owner, name)
);
comment on column saved_view.shared is 'everybody reads it';
