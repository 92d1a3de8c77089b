-- Who changed settings and keys: a line before each such call, which gets the status of its answer when it has one.
create table admin_log (
  seq bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  key_id text,
  actor text not null,
  operation text not null,
  path text collate "C" not null,
  body jsonb,
  status integer,
  request_id text
);
create index admin_log_path on admin_log (path, seq);
comment on column admin_log.key_id is 'open: no key was asked for; null: from the command line, or a sign-in at a provider';
