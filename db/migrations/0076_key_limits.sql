-- How many calls a second a key may make of each process; null: as many as it likes.
alter table api_key add column calls_per_second integer,
  add constraint api_key_calls_check check (calls_per_second > 0);
