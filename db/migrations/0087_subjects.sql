-- Tickets about one thing, and the version that a decision may name. No table is rewritten: the columns are null in
-- all rows.
alter table item add column subject text collate "C";
alter table item add column synced_with text collate "C";
alter table item add column content_version bigint;
comment on column item.subject is 'tickets: what it is about; several may be about the same';
comment on column item.synced_with is 'the ticket of the same subject whose decision decided this one, too';
comment on column item.content_version is
  'the version that last changed its body or requirements; null: none since it was added';
alter table queue add column sync text collate "C";
alter table queue add constraint queue_sync check (sync = 'subject');
comment on column queue.sync is 'tickets: subject: a decision decides the other open tickets of its subject';
-- All tickets of a subject, newest first, for lists and for the count of those that a decision decided.
create index item_subject on item (subject, created_at, seq) where subject is not null;
-- Those that are open, for bulk calls and for a decision that decides them: a subject may have many that are over.
create index item_open_subject on item (subject, queue, seq) where subject is not null and ended_at is null;
