-- A register of reviewers: skills that the server knows, quotas of a day, who is away. Tickets have a category, and may
-- be for one person at first.
create table reviewer (
  name text collate "C" primary key,
  seq bigint generated always as identity,
  person text collate "C",
  display_name text collate "C",
  skills text[] collate "C" not null,
  per_day integer check (per_day >= 0),
  exposure jsonb not null,
  away_until timestamptz,
  timezone text collate "C" not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index reviewer_one on reviewer ((coalesce(person, name)));
create index reviewer_away on reviewer (away_until) where away_until is not null;
create unique index reviewer_seq on reviewer (seq);
comment on column reviewer.seq is 'of several names of a person the time zone of the first holds';
comment on column reviewer.person is 'names of the same person are one; null: the name itself';
comment on column reviewer.exposure is 'most tickets of a category a day';

create table reviewer_day (
  name text collate "C" not null,
  day date not null,
  n integer not null,
  categories jsonb not null,
  primary key (name, day)
) with (fillfactor = 70);
create index reviewer_day_day on reviewer_day (day);
comment on table reviewer_day is 'tickets handed out under a registered name that its person had not had before';

create type register_entry as (
  no bigint, name text, one text, names text[], registered boolean, skills text[], away_until timestamptz,
  day_ends_at timestamptz, spent boolean, "full" text[]
);

alter table queue
  add column registered boolean not null default false,
  add column category_from text collate "C";
comment on column queue.category_from is 'JSON pointer to the category of a ticket in its body';

alter table item
  add column category text collate "C",
  add column own_category boolean not null default false,
  add column for_person text collate "C",
  add column for_until timestamptz,
  add constraint item_for_whom check (for_until is null or for_person is not null);
comment on column item.own_category is 'it came with the ticket, and not from its body';
comment on column item.for_person is 'tickets: nobody else gets it until for_until; null there: ever';
create index item_for on item (queue, for_person) where for_person is not null and state = 'ready';
-- what may have been handed out before: all that is left to who has reached a quota
create index item_again on item (queue, rank, seq)
 where (kind || '') = 'ticket' and (state || '') = 'ready' and event_seq > 1;

-- of the person, whose other names it excludes, too
alter table erased_name add column person_hash bytea;
create index erased_name_person on erased_name (person_hash) where person_hash is not null;
