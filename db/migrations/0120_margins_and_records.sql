alter table court
  add column margin integer check (margin > 0),
  add column probability double precision check (probability < 1),
  add column max_votes integer check (max_votes > 0),
  add column by_records boolean not null default false;
comment on column court.by_records is 'votes are weighed by the records of their voters';
