-- The words of tickets' bodies, where DOCKET_FULL_TEXT is on (db/functions/full-text.sql).
create table ticket_text (
  id    text collate "C" primary key,
  words tsvector not null
);
create index ticket_text_words on ticket_text using gin (words);

create table full_text (
  one       boolean primary key default true check (one),
  since     xid8 not null default pg_current_xact_id(),
  filled_to text collate "C" not null default '',
  ready     boolean not null default false
);
comment on table full_text is 'a row where the words of bodies are kept';
comment on column full_text.since is 'later transactions keep the words of what they add; earlier ones may not';
