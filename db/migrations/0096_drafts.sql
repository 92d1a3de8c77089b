-- What reviewers have filled in of decisions that they have not made yet.
create table draft (
  item_id text collate "C" not null,
  person  text collate "C" not null,
  draft   json not null,
  at      timestamptz not null,
  primary key (item_id, person)
);
comment on table draft is 'drafts of decisions of tickets; only their writers see them';
