alter table court add column timezone text collate "C" not null default 'UTC';
comment on column court.timezone is 'of the days of votes_per_day and invites_per_day';
