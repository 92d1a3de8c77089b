alter table court
  add column timezone text collate "C" not null default 'UTC',
  add column invites_open integer not null default 1 check (invites_open > 0);
-- how many a person may have is checked under the person's lock
drop index lease_one_case;
create index lease_of_person on lease (queue, slot) where kind = 'case' and ended_at is null;
comment on column court.invites_open is 'holds of a person at most; a claim gives one only to who has none';
comment on column court.timezone is 'of the days of votes_per_day and invites_per_day';
