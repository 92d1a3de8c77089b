-- Invitations are made when a juror becomes free, and published: to the juror's stream and to a callback of the court (S2.1).

alter table notice drop constraint notice_type_check;
alter table notice add constraint notice_type_check check (type in ('lease_lost', 'changed', 'invited'));

alter table court add column invitation_callback jsonb;

-- cases that lack jurors, in the order in which they are invited for
create index item_inviting on item (queue, rank, seq) where kind = 'case' and inviting;

-- Jurors who have become free and may be wanted by a case that lacks some; see db/functions/invitations.sql.
create table freed_juror (
  seq      bigint generated always as identity primary key,
  court    text not null collate "C",
  person   text collate "C",
  taken_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on column freed_juror.person is 'null: any juror of the court, because its list or its settings have changed';
comment on column freed_juror.taken_at is 'when a process began to invite for the whole court';

-- Deliveries whose workflow has not been started. A row lives until Temporal has taken the start.
create table delivery_start (
  kind    text not null,
  item_id text not null,
  n       integer not null,
  at      timestamptz not null default clock_timestamp(),
  primary key (kind, item_id, n)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index delivery_start_at on delivery_start (at);

-- The body is in db/functions/invitations.sql.
create or replace function note_freed_juror() returns trigger language plpgsql as 'begin return null; end';
create trigger case_lease_ended after update of ended_at on lease
  for each row when (new.kind = 'case' and new.ended_at is not null and old.ended_at is null)
  execute function note_freed_juror();
