-- The bodies are in db/functions/log.sql, which every migration run brings up to date.
create or replace function log_item_insert() returns trigger language plpgsql as 'begin return null; end';
create or replace function log_item_update() returns trigger language plpgsql as 'begin return null; end';

create trigger item_inserted after insert on item
  referencing new table as new_item
  for each statement execute function log_item_insert();
create trigger item_updated after update on item
  referencing old table as old_item new table as new_item
  for each statement execute function log_item_update();
