-- Cases: items that several persons hold at once (S2). A case's live leases are its holds; what follows from
-- its votes and leases (room, next wake time, who is still to be invited) is kept by db/functions/cases.sql.

alter table item
  add column room integer,
  add column inviting boolean not null default false;
comment on column item.room is 'items with capacity: how many more may hold it; null: one holder at most';
comment on column item.inviting is 'its workflow has people to invite';

alter table item add constraint item_final_invites_nobody check (not inviting or ended_at is null);

alter table lease
  add column expires_at timestamptz,
  add column invited boolean not null default false;
comment on column lease.expires_at is 'items with capacity; an exclusive item carries it itself';

-- what a claim walks through: open cases with room, in the order of the court's way to pick
create index item_room on item (queue, rank, seq) where kind = 'case' and state = 'ready' and room > 0;
-- one hold a person and court, on however many accounts and devices
create unique index lease_one_case on lease (queue, slot) where kind = 'case' and ended_at is null;
-- who was ever asked about a case
create index lease_of_case on lease (item_id, slot) where kind = 'case';
-- votes that came too late, by time
create index lease_refused on lease (queue, refused_at) where kind = 'case' and refused_at is not null;

-- What a court has beyond a queue. The last group is what its strategies mean as data (domain/courts.ts), so
-- that one statement can go by them.
create table court (
  name             text primary key collate "C",
  options          text[] not null check (cardinality(options) > 1),
  votes_to_win     integer not null check (votes_to_win > 0),
  panel            integer check (panel >= votes_to_win),
  overbook         integer not null check (overbook >= 0),
  window_cases     integer check (window_cases > 0),
  window_seconds   double precision check (window_seconds > 0),
  votes_per_day    integer check (votes_per_day > 0),
  mode             text not null check (mode in ('claim', 'assign', 'both')),
  assign_jurors    integer check (assign_jurors > 0),
  answer_seconds   double precision check (answer_seconds > 0),
  invites_per_day  integer check (invites_per_day > 0),
  record_late      boolean not null,
  quality          jsonb,
  fallback         jsonb,
  gold_share       double precision not null,
  admit            text not null,
  pick             text not null,
  decide           text not null,
  around           boolean not null,
  bar_agreement    double precision,
  bar_after        integer,
  bar_newcomers    boolean not null,
  -- the juror list that counts
  list             bigint not null default 0,
  constraint court_window check ((window_cases is null) = (window_seconds is null)),
  constraint court_assignment check (mode = 'claim' or (assign_jurors is not null and answer_seconds is not null))
);
comment on column court.around is 'claims begin at a random place of the order instead of at its head';

create table case_file (
  id            text primary key collate "C",
  court         text not null collate "C",
  parties       jsonb not null,
  party_ids     text[] not null,
  party_persons text[] not null,
  -- the known answer of a gold case
  gold          text,
  -- counted votes by option
  tally         jsonb not null default '{}',
  votes         integer not null default 0,
  votes_left    integer not null,
  stage         integer not null default 0,
  holds         integer not null default 0,
  wasted        integer not null default 0,
  extended      boolean not null default false,
  winner        text,
  constraint case_never_votes_in_excess check (votes_left >= 0)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index case_gold on case_file (court) where gold is not null;

create table vote (
  token   text primary key collate "C",
  seq     bigint generated always as identity,
  case_id text not null collate "C",
  court   text not null collate "C",
  juror   text not null collate "C",
  person  text not null collate "C",
  option  text not null,
  comment text,
  at      timestamptz not null,
  counted boolean not null,
  gold    boolean not null
);
-- one vote a person, whatever the number of accounts
create unique index vote_once on vote (case_id, person);
create index vote_order on vote (case_id, seq);
create index vote_at on vote (court, at);

-- A court's jurors. Lists are replaced as a whole: rows of a list that the court doesn't name are not seen.
create table juror (
  court    text not null collate "C",
  list     bigint not null,
  id       text not null collate "C",
  person   text not null collate "C",
  eligible boolean not null,
  invite   boolean not null,
  dice     double precision not null default random(),
  primary key (court, list, id)
) with (fillfactor = 80);
create index juror_person on juror (court, list, person);
create index juror_dice on juror (court, list, dice) where eligible and invite;

create sequence juror_list_number;
-- lists of which chunks have come, but not the last one
create table juror_list (
  court text not null collate "C",
  name  text not null,
  list  bigint not null,
  at    timestamptz not null default clock_timestamp(),
  primary key (court, name)
);

-- How often a person agreed with what courts found, gold cases included.
create table juror_record (
  court  text not null collate "C",
  person text not null collate "C",
  judged integer not null,
  agreed integer not null,
  primary key (court, person)
) with (fillfactor = 70);

-- What a person did on a day (UTC).
create table juror_day (
  court   text not null collate "C",
  person  text not null collate "C",
  day     date not null,
  votes   integer not null default 0,
  invited integer not null default 0,
  primary key (court, person, day)
) with (fillfactor = 70);

-- When a case was first shown to a person in the window that still runs.
create table exposure (
  court    text not null collate "C",
  person   text not null collate "C",
  case_id  text not null collate "C",
  shown_at timestamptz not null,
  primary key (court, person, case_id)
);
create index exposure_window on exposure (court, person, shown_at);

-- a juror as a court sees him now: the person behind the account, all accounts of that person, whether he may judge
create type juror_seen as (person text, ids text[], admitted boolean);

create or replace view told as
select kind, id, queue, state, version, wake_at, holder, telling, event_seq, last_event, last_actor, updated_at, inviting from item
union all
select 'review', id, '', 'ready', version, null, null, true, log_seq, 'received', 'system', updated_at, false from review;
