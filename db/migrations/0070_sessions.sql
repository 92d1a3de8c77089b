-- Who signed in with a key in a browser: a session stands for its key, for some hours at most.
create table session (
  hash       bytea primary key,
  key_id     text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index session_expires on session (expires_at);
comment on column session.hash is 'of its token, which is not kept';

-- A stream ticket that was asked for by a session ends with it.
alter table stream_ticket add column session bytea;
