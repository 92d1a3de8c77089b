-- What a removed target's last audit time is worth when it is added again: later callbacks are compared with it, though
-- its status is the author's, so of no arrival.
alter table review_index drop constraint review_index_applied;
alter table review_index add constraint review_index_applied
  check (arrival is null or audit_time is not null);

-- It gets an argument more; an older process's calls, without it, fit the new one.
drop function if exists receive_callbacks(
  text[], text[], text[], text[], integer[], timestamptz[], double precision, text[], boolean);
