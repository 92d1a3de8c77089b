-- The tables, indexes, constraints and triggers that db/migrations make, for reading; functions stand in db/functions.
-- Written by `npm run schema`; `npm run check` fails when it is not what they make.

create sequence item_buried;

create sequence item_version;

create sequence juror_list_number;

create table admin_log (
  seq                  bigint generated always as identity not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  key_id               text collate "C",
  actor                text collate "C" not null,
  operation            text collate "C" not null,
  path                 text collate "C" not null,
  body                 jsonb,
  status               integer,
  request_id           text collate "C",
  constraint admin_log_pkey PRIMARY KEY (seq)
);
CREATE INDEX admin_log_path ON public.admin_log USING btree (path, seq);
comment on column admin_log.key_id is 'open: no key was asked for; null: from the command line, or a sign-in at a provider';

create table api_key (
  id                   text collate "C" not null,
  name                 text collate "C" not null,
  role                 text collate "C" not null,
  subject              text collate "C",
  hash                 bytea not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  revoked_at           timestamp with time zone,
  queues               text[] collate "C",
  expires_at           timestamp with time zone,
  seq                  bigint generated always as identity not null,
  calls_per_second     integer,
  issuer               text collate "C",
  issuer_subject       text collate "C",
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_of_person UNIQUE (issuer, issuer_subject),
  constraint api_key_calls_check CHECK ((calls_per_second > 0)),
  constraint api_key_model_has_subject CHECK (((role <> 'model'::text) OR (subject IS NOT NULL))),
  constraint api_key_queues_check CHECK ((cardinality(queues) > 0)),
  constraint api_key_reviewer_has_subject CHECK (((role <> 'reviewer'::text) OR (subject IS NOT NULL))),
  constraint api_key_role_check CHECK ((role = ANY (ARRAY['producer'::text, 'reviewer'::text, 'agent'::text, 'consumer'::text, 'supervisor'::text, 'model'::text, 'admin'::text])))
);
CREATE UNIQUE INDEX api_key_newest ON public.api_key USING btree (seq);
comment on column api_key.issuer is 'The provider at which this person signs in; null: a key that has a text';
comment on column api_key.issuer_subject is 'The person as the provider knows them, for good (sub)';

create table case_file (
  id                   text collate "C" not null,
  court                text collate "C" not null,
  parties              jsonb not null,
  party_ids            text[] collate "C" not null,
  party_persons        text[] collate "C" not null,
  gold                 text collate "C",
  tally                jsonb default '{}'::jsonb not null,
  votes                integer default 0 not null,
  votes_left           integer not null,
  stage                integer default 0 not null,
  holds                integer default 0 not null,
  wasted               integer default 0 not null,
  extended             boolean default false not null,
  winner               text collate "C",
  constraint case_file_pkey PRIMARY KEY (id),
  constraint case_never_votes_in_excess CHECK ((votes_left >= 0))
)
with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX case_gold ON public.case_file USING btree (court) WHERE (gold IS NOT NULL);

create table court (
  name                 text collate "C" not null,
  options              text[] collate "C" not null,
  votes_to_win         integer not null,
  panel                integer,
  overbook             integer not null,
  window_cases         integer,
  window_seconds       double precision,
  votes_per_day        integer,
  mode                 text collate "C" not null,
  assign_jurors        integer,
  answer_seconds       double precision,
  invites_per_day      integer,
  record_late          boolean not null,
  quality              jsonb,
  fallback             jsonb,
  gold_share           double precision not null,
  admit                text collate "C" not null,
  pick                 text collate "C" not null,
  decide               text collate "C" not null,
  random_start         boolean not null,
  bar_agreement        double precision,
  bar_after            integer,
  bar_newcomers        boolean not null,
  list                 bigint default 0 not null,
  invitation_callback  jsonb,
  timezone             text collate "C" default 'UTC'::text not null,
  invites_open         integer default 1 not null,
  margin               integer,
  probability          double precision,
  max_votes            integer,
  by_records           boolean default false not null,
  constraint court_pkey PRIMARY KEY (name),
  constraint court_answer_seconds_check CHECK ((answer_seconds > (0)::double precision)),
  constraint court_assign_jurors_check CHECK ((assign_jurors > 0)),
  constraint court_assignment CHECK (((mode = 'claim'::text) OR ((assign_jurors IS NOT NULL) AND (answer_seconds IS NOT NULL)))),
  constraint court_check CHECK ((panel >= votes_to_win)),
  constraint court_invites_open_check CHECK ((invites_open > 0)),
  constraint court_invites_per_day_check CHECK ((invites_per_day > 0)),
  constraint court_margin_check CHECK ((margin > 0)),
  constraint court_max_votes_check CHECK ((max_votes > 0)),
  constraint court_mode_check CHECK ((mode = ANY (ARRAY['claim'::text, 'assign'::text, 'both'::text]))),
  constraint court_options_check CHECK ((cardinality(options) > 1)),
  constraint court_overbook_check CHECK ((overbook >= 0)),
  constraint court_probability_check CHECK ((probability < (1)::double precision)),
  constraint court_votes_per_day_check CHECK ((votes_per_day > 0)),
  constraint court_votes_to_win_check CHECK ((votes_to_win > 0)),
  constraint court_window CHECK (((window_cases IS NULL) = (window_seconds IS NULL))),
  constraint court_window_cases_check CHECK ((window_cases > 0)),
  constraint court_window_seconds_check CHECK ((window_seconds > (0)::double precision))
);
comment on column court.random_start is 'claims begin at a random place of the order instead of at its head';
comment on column court.timezone is 'of the days of votes_per_day and invites_per_day';
comment on column court.invites_open is 'holds of a person at most; a claim gives one only to who has none';
comment on column court.by_records is 'votes are weighed by the records of their voters';

create table delivery (
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  n                    integer not null,
  type                 text collate "C" not null,
  version              bigint not null,
  url                  text not null,
  state                text collate "C" not null,
  attempts             integer default 0 not null,
  status               integer,
  error                text collate "C",
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  body                 json,
  seq                  bigint generated always as identity not null,
  queue                text collate "C" default ''::text not null,
  host                 text collate "C" generated always as (url_host(url)) stored,
  next_attempt_at      timestamp with time zone default clock_timestamp(),
  attempts_before      integer default 0 not null,
  constraint delivery_pkey PRIMARY KEY (kind, item_id, n),
  constraint delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE INDEX delivery_host ON public.delivery USING btree (host, state, kind, seq);
CREATE INDEX delivery_pending ON public.delivery USING btree (kind, item_id, n) WHERE (state = 'pending'::text);
CREATE INDEX delivery_queue ON public.delivery USING btree (queue, kind, state, seq);
CREATE INDEX delivery_state ON public.delivery USING btree (state, kind, seq);
CREATE TRIGGER delivery_deleted AFTER DELETE ON public.delivery REFERENCING OLD TABLE AS old_delivery FOR EACH STATEMENT EXECUTE FUNCTION log_delivery();
CREATE TRIGGER delivery_inserted AFTER INSERT ON public.delivery REFERENCING NEW TABLE AS new_delivery FOR EACH STATEMENT EXECUTE FUNCTION log_delivery();
CREATE TRIGGER delivery_updated AFTER UPDATE ON public.delivery REFERENCING OLD TABLE AS old_delivery NEW TABLE AS new_delivery FOR EACH STATEMENT EXECUTE FUNCTION log_delivery();

create table delivery_start (
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  n                    integer not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint delivery_start_pkey PRIMARY KEY (kind, item_id, n)
)
with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE INDEX delivery_start_at ON public.delivery_start USING btree (at);

create table draft (
  item_id              text collate "C" not null,
  person               text collate "C" not null,
  draft                json not null,
  at                   timestamp with time zone not null,
  constraint draft_pkey PRIMARY KEY (item_id, person)
);
comment on table draft is 'drafts of decisions of tickets; only their writers see them';

create table draw_key (
  one                  boolean default true not null,
  key                  bytea not null,
  constraint draw_key_pkey PRIMARY KEY (one),
  constraint draw_key_one_check CHECK (one)
);

create table erased_exclusion (
  stands_for           text collate "C" not null,
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  constraint erased_exclusion_pkey PRIMARY KEY (stands_for, kind, item_id)
);
comment on table erased_exclusion is 'open items that exclude somebody whose name was erased';

create table erased_name (
  stands_for           text collate "C" not null,
  hash                 bytea not null,
  person_hash          bytea,
  constraint erased_name_pkey PRIMARY KEY (stands_for)
);
CREATE INDEX erased_name_hash ON public.erased_name USING btree (hash);
CREATE INDEX erased_name_person ON public.erased_name USING btree (person_hash) WHERE (person_hash IS NOT NULL);

create table erasure (
  id                   text collate "C" not null,
  seq                  bigint generated always as identity not null,
  kind                 text collate "C",
  item_id              text collate "C",
  reason               text collate "C" not null,
  actor                text collate "C" not null,
  state                text collate "C" default 'running'::text not null,
  "position"           text collate "C",
  items                integer default 0 not null,
  events               integer default 0 not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  finished_at          timestamp with time zone,
  person               text collate "C",
  stands_for           text collate "C",
  place                integer default 0 not null,
  block                bigint default 0 not null,
  passes               integer default 0 not null,
  again                boolean default false not null,
  constraint erasure_pkey PRIMARY KEY (id),
  constraint erasure_end CHECK (((state = 'done'::text) = (finished_at IS NOT NULL))),
  constraint erasure_forgets CHECK (((state = 'running'::text) OR (person IS NULL))),
  constraint erasure_kind_check CHECK ((kind = ANY (ARRAY['ticket'::text, 'job'::text, 'case'::text, 'task'::text, 'review'::text]))),
  constraint erasure_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text]))),
  constraint erasure_target CHECK ((((kind IS NULL) = (item_id IS NULL)) AND ((kind IS NULL) = (stands_for IS NOT NULL))))
);
CREATE UNIQUE INDEX erasure_of_item ON public.erasure USING btree (kind, item_id) WHERE (state = 'running'::text);
CREATE UNIQUE INDEX erasure_of_person ON public.erasure USING btree (person) WHERE (person IS NOT NULL);
comment on column erasure."position" is 'how far it has come; null: it has not begun';
comment on column erasure.person is 'the name that is replaced; null when that is done';
comment on column erasure.place is 'of a person: the table that it has come to (erased_columns), and there the block';
comment on column erasure.again is 'of a person: this pass has found the name';

create table erasure_key (
  one                  boolean default true not null,
  key                  bytea not null,
  constraint erasure_key_pkey PRIMARY KEY (one),
  constraint erasure_key_one_check CHECK (one)
);

create table event (
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  seq                  integer not null,
  type                 text collate "C" not null,
  actor                text collate "C" not null,
  at                   timestamp with time zone not null,
  data                 json,
  id                   bigint generated always as identity not null,
  version              bigint,
  token                bytea,
  ends                 integer,
  no                   bigint,
  constraint event_pkey PRIMARY KEY (kind, item_id, seq)
)
with (autovacuum_vacuum_insert_scale_factor=0.2);
CREATE INDEX event_dispatch ON public.event USING btree (at, item_id, seq) WHERE ((kind = 'task'::text) AND (type = ANY (ARRAY['dispatched'::text, 'completed'::text, 'returned'::text])));
CREATE INDEX event_dispatch_user ON public.event USING btree (((data ->> 'person'::text)), at, item_id, seq) WHERE ((kind = 'task'::text) AND (type = ANY (ARRAY['dispatched'::text, 'completed'::text, 'returned'::text])));
CREATE UNIQUE INDEX event_id ON public.event USING btree (id);
comment on column event.id is 'drawn under the item''s lock by a transaction that has its number already; never cache more than one';
comment on column event.version is 'what its workflow must receive from this line on; null: nothing, or it knows already';
comment on column event.token is 'hash of the lease token that this line grants, or of one that it refuses late; never shown';
comment on column event.ends is 'seq of the line that granted the lease that this line ends';
comment on column event.no is 'seq of the item when this was written; null: by an earlier release';

create table exposure (
  court                text collate "C" not null,
  person               text collate "C" not null,
  case_id              text collate "C" not null,
  shown_at             timestamp with time zone not null,
  constraint exposure_pkey PRIMARY KEY (court, person, case_id)
);
CREATE INDEX exposure_window ON public.exposure USING btree (court, person, shown_at);

create table feed (
  seq                  bigint not null,
  event_id             bigint not null,
  constraint feed_pkey PRIMARY KEY (seq),
  constraint feed_event_id_key UNIQUE (event_id)
)
with (autovacuum_vacuum_insert_scale_factor=0.2);

create table feed_hole (
  first                bigint not null,
  last                 bigint not null,
  seen_by              xid8 not null,
  constraint feed_hole_pkey PRIMARY KEY (first),
  constraint feed_hole_is_a_stretch CHECK ((last >= first))
);

create table feed_state (
  one                  boolean default true not null,
  upto                 bigint not null,
  newest               bigint not null,
  constraint feed_state_pkey PRIMARY KEY (one),
  constraint feed_state_one_check CHECK (one)
);

create table freed_juror (
  seq                  bigint generated always as identity not null,
  court                text collate "C" not null,
  person               text collate "C",
  taken_at             timestamp with time zone,
  constraint freed_juror_pkey PRIMARY KEY (seq)
)
with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
comment on column freed_juror.person is 'null: any juror of the court, because its list or its settings have changed';
comment on column freed_juror.taken_at is 'when a process began to invite for the whole court';

create table full_text (
  one                  boolean default true not null,
  since                xid8 default pg_current_xact_id() not null,
  filled_to            text collate "C" default ''::text not null,
  ready                boolean default false not null,
  constraint full_text_pkey PRIMARY KEY (one),
  constraint full_text_one_check CHECK (one)
);
comment on table full_text is 'a row where the words of bodies are kept';
comment on column full_text.since is 'later transactions keep the words of what they add; earlier ones may not';

create table gold (
  queue                text collate "C" not null,
  id                   text collate "C" not null,
  seq                  bigint generated always as identity not null,
  body                 json not null,
  answer               json not null,
  subject              text collate "C",
  priority             bigint,
  requires             text[] collate "C" not null,
  retired              boolean default false not null,
  changed_at           timestamp with time zone default clock_timestamp() not null,
  constraint gold_pkey PRIMARY KEY (queue, id)
);
comment on column gold.retired is 'most have got it wrong since it was changed, so it is handed out no more';

create table gold_copy (
  id                   text collate "C" not null,
  queue                text collate "C" not null,
  gold                 text collate "C" not null,
  person               text collate "C" not null,
  outcome              text collate "C",
  at                   timestamp with time zone default clock_timestamp() not null,
  disputed             boolean default false not null,
  constraint gold_copy_pkey PRIMARY KEY (id),
  constraint gold_copy_queue_gold_person_key UNIQUE (queue, gold, person),
  constraint gold_copy_outcome_check CHECK ((outcome = ANY (ARRAY['right'::text, 'wrong'::text, 'skipped'::text, 'none'::text])))
);
CREATE INDEX gold_copy_person ON public.gold_copy USING btree (person);
comment on column gold_copy.outcome is 'null: it is open';
comment on column gold_copy.at is 'of its hand-out, then of its outcome';

create table item (
  kind                 text collate "C" not null,
  id                   text collate "C" not null,
  queue                text collate "C" not null,
  seq                  bigint generated by default as identity not null,
  state                text collate "C" not null,
  priority             bigint default 0 not null,
  rank                 bigint not null,
  front                boolean default false not null,
  body                 json not null,
  content_hash         bytea not null,
  requires             text[] default '{}'::text[] not null,
  requires_key         text collate "C" default ''::text not null,
  exclude              text[] collate "C" default '{}'::text[] not null,
  skipped              text[] collate "C" default '{}'::text[] not null,
  callback             jsonb,
  version              bigint not null,
  attempts             integer default 0 not null,
  escalated_seconds    double precision default '-1'::integer not null,
  created_at           timestamp with time zone not null,
  available_at         timestamp with time zone not null,
  first_available_at   timestamp with time zone not null,
  deadline_at          timestamp with time zone,
  own_deadline         boolean default false not null,
  wake_at              timestamp with time zone,
  lease_id             text collate "C",
  holder               text collate "C",
  granted_at           timestamp with time zone,
  expires_at           timestamp with time zone,
  ended_at             timestamp with time zone,
  ended_by             text collate "C",
  end_reason           text collate "C",
  result               json,
  result_hash          bytea,
  settled_token        bytea,
  delivery_pending     boolean default false not null,
  event_seq            integer not null,
  last_event           text collate "C" not null,
  last_actor           text collate "C" not null,
  last_data            json,
  updated_at           timestamp with time zone not null,
  lease_seconds        double precision,
  delay_seconds        double precision default 0 not null,
  buried_seq           bigint,
  body_bytes           integer,
  capacity             integer,
  lacks_jurors         boolean default false not null,
  closing              boolean default false not null,
  stocked_by           xid8,
  base_priority        bigint,
  base_requires        text[] collate "C",
  ruled                jsonb,
  manual_priority      boolean default false not null,
  manual_requires      boolean default false not null,
  rules_due_at         timestamp with time zone,
  next_id              text collate "C",
  slot                 bigint,
  subject              text collate "C",
  synced_with          text collate "C",
  content_version      bigint,
  run                  integer default 1 not null,
  erased               boolean default false not null,
  escalates_at         timestamp with time zone,
  look                 jsonb,
  category             text collate "C",
  own_category         boolean default false not null,
  for_person           text collate "C",
  for_until            timestamp with time zone,
  overdue_at           timestamp with time zone,
  automation           text collate "C",
  constraint item_pkey PRIMARY KEY (kind, id)
)
with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.1, autovacuum_vacuum_cost_delay=1);
CREATE INDEX case_created ON public.item USING btree (queue, created_at, seq) WHERE ((kind || ''::text) = 'case'::text);
CREATE INDEX item_again ON public.item USING btree (queue, rank, seq) WHERE (((kind || ''::text) = 'ticket'::text) AND ((state || ''::text) = 'ready'::text) AND (event_seq > 1));
CREATE INDEX item_automated ON public.item USING btree (queue, automation, created_at, seq) WHERE ((kind = 'ticket'::text) AND (automation IS NOT NULL));
CREATE INDEX item_back ON public.item USING btree (queue, requires_key, rank, seq) WHERE (((kind || ''::text) = 'job'::text) AND ((state || ''::text) = 'ready'::text) AND (event_seq > 1));
CREATE INDEX item_buried_order ON public.item USING btree (queue, kind, buried_seq) WHERE (state = 'buried'::text);
CREATE INDEX item_capacity ON public.item USING btree (queue, rank, seq) WHERE ((kind = 'case'::text) AND (state = 'ready'::text) AND (capacity > 0));
CREATE INDEX item_decided_by ON public.item USING btree (queue, ended_by, created_at, seq) WHERE ((kind = 'ticket'::text) AND (state = 'settled'::text));
CREATE INDEX item_delayed ON public.item USING btree (queue, kind, available_at) WHERE (state = 'delayed'::text);
CREATE INDEX item_delivery_pending ON public.item USING btree (kind, id) WHERE delivery_pending;
CREATE INDEX item_drawn ON public.item USING btree (queue) WHERE ((look ? 'drawn'::text) AND (ended_at IS NULL));
CREATE INDEX item_due ON public.item USING btree (queue, kind, COALESCE(wake_at, 'infinity'::timestamp with time zone)) WHERE (COALESCE(wake_at, 'infinity'::timestamp with time zone) <> 'infinity'::timestamp with time zone);
CREATE INDEX item_ended ON public.item USING brin (ended_at) WITH (pages_per_range='16', autosummarize='on') WHERE (ended_at IS NOT NULL);
CREATE INDEX item_for ON public.item USING btree (queue, for_person) WHERE ((for_person IS NOT NULL) AND (state = 'ready'::text));
CREATE UNIQUE INDEX item_holder ON public.item USING btree (queue, kind, holder, slot) WHERE (state = 'held'::text);
CREATE UNIQUE INDEX item_job_number ON public.item USING btree (seq) WHERE ((kind || ''::text) = 'job'::text);
CREATE INDEX item_lacks_jurors ON public.item USING btree (queue, rank, seq) WHERE ((kind = 'case'::text) AND lacks_jurors);
CREATE INDEX item_oldest ON public.item USING btree (queue, kind, first_available_at) WHERE (state = 'ready'::text);
CREATE INDEX item_open_subject ON public.item USING btree (subject, queue, seq) WHERE ((subject IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX item_overdue ON public.item USING btree (queue, first_available_at) WHERE ((overdue_at = 'infinity'::timestamp with time zone) AND (ended_at IS NULL));
CREATE INDEX item_overturned ON public.item USING btree (queue, created_at, seq) WHERE ((kind = 'ticket'::text) AND (look ? 'standing'::text));
CREATE INDEX item_ready ON public.item USING btree (queue, kind, requires_key, rank, seq) WHERE (state = 'ready'::text);
CREATE INDEX item_rules_due ON public.item USING btree (rules_due_at) WHERE ((rules_due_at IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX item_state ON public.item USING btree (queue, kind, state, created_at, seq) WHERE (state <> 'held'::text);
CREATE INDEX item_stock ON public.item USING btree (queue, rank, seq) WHERE ((kind = 'task'::text) AND (state = 'ready'::text) AND (capacity > 0));
CREATE INDEX item_stock_by_id ON public.item USING btree (id) WHERE ((kind = 'task'::text) AND (state = 'ready'::text) AND (capacity > 0));
CREATE INDEX item_stocked ON public.item USING btree (queue, stocked_by) WHERE ((kind = 'task'::text) AND (state = 'ready'::text) AND (capacity > 0));
CREATE INDEX item_subject ON public.item USING btree (subject, created_at, seq) WHERE (subject IS NOT NULL);
CREATE INDEX item_wake ON public.item USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE TRIGGER item_derived BEFORE UPDATE ON public.item FOR EACH ROW EXECUTE FUNCTION derive_item();
CREATE TRIGGER item_inserted AFTER INSERT ON public.item REFERENCING NEW TABLE AS new_item FOR EACH STATEMENT EXECUTE FUNCTION log_item_insert();
CREATE TRIGGER item_updated AFTER UPDATE ON public.item REFERENCING OLD TABLE AS old_item NEW TABLE AS new_item FOR EACH STATEMENT EXECUTE FUNCTION log_item_update();
comment on column item.end_reason is 'why it ended; of an open job, why it was last given back';
comment on column item.settled_token is 'hash of the token that settled it';
comment on column item.lease_seconds is 'a lease time of its own; null: the queue''s';
comment on column item.body_bytes is 'length of a job''s body as beanstalkd''s protocol sends it';
comment on column item.capacity is 'how many more may hold it; null: it has one holder at most';
comment on column item.lacks_jurors is 'its workflow has jurors to invite';
comment on column item.closing is 'nothing more of it is handed out; it ends when the last of its holders has';
comment on column item.stocked_by is 'the transaction since which an occurrence could be dispatched to its executor; null: since its start, whenever it was made';
comment on column item.next_id is 'tickets: the next one that its decision got; jobs: the token of what its finish got; null: none';
comment on column item.slot is 'tickets: which of the holds that its holder may have at once this is, from 1; negative: it has run out, and another has its slot';
comment on column item.subject is 'tickets: what it is about; several may be about the same';
comment on column item.synced_with is 'the ticket of the same subject whose decision decided this one, too';
comment on column item.content_version is 'the version that last changed its body or requirements; null: none since it was added';
comment on column item.run is 'jobs: how often this id has begun';
comment on column item.escalates_at is 'when the next step of its queue''s escalations is due';
comment on column item.look is 'of a look: {of, queue, deciders}; of what was looked at: {version, looks, standing} (contract/items.ts)';
comment on column item.own_category is 'it came with the ticket, and not from its body';
comment on column item.for_person is 'tickets: nobody else gets it until for_until; null there: ever';
comment on column item.overdue_at is 'when its queue''s target passes; infinity: that is in its history';
comment on column item.automation is 'tickets: partial or full; null: decided by a person alone, or not by a lease';

create table job_key (
  id                   text collate "C" not null,
  key                  text collate "C" not null,
  run                  integer not null,
  constraint job_key_pkey PRIMARY KEY (id, key)
);

create table job_run (
  number               bigint not null,
  id                   text collate "C" not null,
  run                  integer not null,
  queue                text collate "C" not null,
  ended_at             timestamp with time zone not null,
  last_seq             integer not null,
  settled_token        bytea,
  next_id              text collate "C",
  record               json not null,
  constraint job_run_pkey PRIMARY KEY (number)
);
CREATE INDEX job_run_ended ON public.job_run USING btree (queue, ended_at, number);
CREATE UNIQUE INDEX job_run_id ON public.job_run USING btree (id, run);
comment on column job_run.last_seq is 'number of its last event';
comment on column job_run.record is 'what the archive keeps of it';

create table juror (
  court                text collate "C" not null,
  list                 bigint not null,
  id                   text collate "C" not null,
  person               text collate "C" not null,
  eligible             boolean not null,
  invite               boolean not null,
  dice                 double precision default random() not null,
  constraint juror_pkey PRIMARY KEY (court, list, id)
)
with (fillfactor=80);
CREATE INDEX juror_dice ON public.juror USING btree (court, list, dice) WHERE (eligible AND invite);
CREATE INDEX juror_person ON public.juror USING btree (court, list, person);

create table juror_day (
  court                text collate "C" not null,
  person               text collate "C" not null,
  day                  date not null,
  votes                integer default 0 not null,
  invited              integer default 0 not null,
  constraint juror_day_pkey PRIMARY KEY (court, person, day)
)
with (fillfactor=70);
CREATE INDEX juror_day_day ON public.juror_day USING btree (day);

create table juror_list (
  court                text collate "C" not null,
  name                 text collate "C" not null,
  list                 bigint not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  in_parts             boolean not null,
  final_hash           bytea,
  constraint juror_list_pkey PRIMARY KEY (court, name)
);
comment on column juror_list.in_parts is 'Whether it had a part that was not the last';
comment on column juror_list.final_hash is 'Of the last part of an upload that is finished; null while it goes on';

create table juror_record (
  court                text collate "C" not null,
  person               text collate "C" not null,
  judged               integer not null,
  agreed               integer not null,
  constraint juror_record_pkey PRIMARY KEY (court, person)
)
with (fillfactor=70);

create table lease (
  token                text collate "C" not null,
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  queue                text collate "C" not null,
  holder               text collate "C" not null,
  slot                 text collate "C" default ''::text not null,
  granted_at           timestamp with time zone not null,
  ended_at             timestamp with time zone,
  why                  text collate "C",
  ended_by             text collate "C",
  refused_at           timestamp with time zone,
  expires_at           timestamp with time zone,
  invited              boolean default false not null,
  given                json,
  result_hash          bytea,
  seen                 pg_snapshot,
  excluded             text[] collate "C",
  constraint lease_pkey PRIMARY KEY (token),
  constraint lease_end CHECK ((((ended_at IS NULL) = (why IS NULL)) AND ((ended_at IS NULL) = (ended_by IS NULL)))),
  constraint lease_of_capacity CHECK ((kind <> ALL (ARRAY['ticket'::text, 'job'::text]))),
  constraint lease_order CHECK ((ended_at >= granted_at)),
  constraint lease_why_check CHECK ((why = ANY (ARRAY['settled'::text, 'released'::text, 'revoked'::text, 'expired'::text, 'transferred'::text, 'closed'::text])))
)
with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05);
CREATE UNIQUE INDEX lease_live ON public.lease USING btree (kind, item_id, slot) WHERE (ended_at IS NULL);
CREATE INDEX lease_of_case ON public.lease USING btree (item_id, slot) WHERE (kind = 'case'::text);
CREATE INDEX lease_of_person ON public.lease USING btree (queue, slot) WHERE ((kind = 'case'::text) AND (ended_at IS NULL));
CREATE INDEX lease_of_task ON public.lease USING btree (item_id, slot) WHERE (kind = 'task'::text);
CREATE UNIQUE INDEX lease_one_task ON public.lease USING btree (slot) WHERE ((kind = 'task'::text) AND (ended_at IS NULL));
CREATE INDEX lease_refused ON public.lease USING btree (queue, refused_at) WHERE ((kind = 'case'::text) AND (refused_at IS NOT NULL));
CREATE TRIGGER case_lease_ended AFTER UPDATE OF ended_at ON public.lease FOR EACH ROW WHEN (((new.kind = 'case'::text) AND (new.ended_at IS NOT NULL) AND (old.ended_at IS NULL))) EXECUTE FUNCTION note_freed_juror();
comment on column lease.expires_at is 'items with capacity; an exclusive item carries it itself';
comment on column lease.given is 'what the holder was given, where the item may change under it';
comment on column lease.seen is 'what older transactions had made was seen when this dispatch was chosen';
comment on column lease.excluded is 'what the call that was given this dispatch excluded';

create table log_shard (
  shard                integer not null,
  owner                text collate "C",
  epoch                bigint default 0 not null,
  seen_at              timestamp with time zone,
  reviews              bigint not null,
  outcomes             bigint not null,
  rest                 bigint not null,
  idle                 bigint not null,
  constraint log_shard_pkey PRIMARY KEY (shard)
)
with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=200);

create table look_back (
  person               text collate "C" not null,
  first_at             timestamp with time zone not null,
  first_rank           bigint not null,
  first_seen           pg_snapshot,
  since_rank           bigint not null,
  seen                 pg_snapshot,
  excluded             text[] collate "C" default '{}'::text[] not null,
  constraint look_back_pkey PRIMARY KEY (person)
)
with (fillfactor=70);
comment on column look_back.since_rank is 'the start of what they completed last; what is earlier has been passed by';
comment on column look_back.seen is 'unless it came with a transaction that had not been seen when they were given that';
comment on column look_back.excluded is 'or the call that was given it excluded that';

create table look_record (
  queue                text collate "C" not null,
  decider              text collate "C" not null,
  upheld               double precision not null,
  overturned           double precision not null,
  constraint look_record_pkey PRIMARY KEY (queue, decider)
);

create table member (
  person               text collate "C" not null,
  group_id             text collate "C" not null,
  given_as             text collate "C" not null,
  joined_by            xid8,
  constraint member_pkey PRIMARY KEY (person, group_id)
);
CREATE INDEX member_of_group ON public.member USING btree (group_id, person);
comment on column member.joined_by is 'the transaction since which they are a member: what they could have had before that they have not passed by';

create table node (
  id                   text collate "C" not null,
  url                  text collate "C",
  role                 text collate "C" not null,
  started_at           timestamp with time zone default clock_timestamp() not null,
  seen_at              timestamp with time zone default clock_timestamp() not null,
  follows              boolean default false not null,
  store                text collate "C",
  constraint node_pkey PRIMARY KEY (id)
);

create table notice (
  seq                  bigint generated always as identity not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  queue                text collate "C" not null,
  person               text collate "C" not null,
  type                 text collate "C" not null,
  data                 json not null,
  xid                  xid8 default pg_current_xact_id(),
  snap                 pg_snapshot default pg_current_snapshot(),
  constraint notice_pkey PRIMARY KEY (seq),
  constraint notice_type_check CHECK ((type = ANY (ARRAY['lease_lost'::text, 'changed'::text, 'invited'::text])))
);
CREATE INDEX notice_at ON public.notice USING btree (at);

create table operator_command (
  key                  text collate "C" not null,
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint operator_command_pkey PRIMARY KEY (key)
);
CREATE INDEX operator_command_at ON public.operator_command USING btree (at);

create table parked (
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  until                timestamp with time zone not null,
  error                text collate "C" not null,
  constraint parked_pkey PRIMARY KEY (kind, item_id)
);

create table queue (
  kind                 text collate "C" not null,
  name                 text collate "C" not null,
  paused               boolean default false not null,
  lease_seconds        double precision default 300 not null,
  level_seconds        double precision,
  escalations          jsonb default '[]'::jsonb not null,
  reclaimed_first      boolean default false not null,
  max_held             integer default 1 not null,
  max_attempts         integer,
  deadline_seconds     double precision,
  callback             jsonb,
  form                 json,
  settings_version     bigint default nextval('item_version'::regclass) not null,
  refresh_pending      boolean default false not null,
  refresh_taken_at     timestamp with time zone,
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  seq                  bigint generated always as identity not null,
  paused_until         timestamp with time zone,
  pause_seconds        double precision default 0 not null,
  push                 jsonb,
  deleted_at           timestamp with time zone,
  rules                jsonb default '[]'::jsonb not null,
  workflow             text collate "C" default 'always'::text not null,
  sync                 text collate "C",
  ids                  text collate "C" default 'reuse'::text not null,
  second               jsonb,
  registered           boolean default false not null,
  category_from        text collate "C",
  service_seconds      double precision,
  lease                text collate "C" default 'fixed'::text not null,
  adaptive_seconds     double precision,
  assist               jsonb,
  gold                 jsonb,
  desk                 jsonb,
  constraint queue_pkey PRIMARY KEY (kind, name),
  constraint queue_adaptive_seconds_check CHECK ((adaptive_seconds > (0)::double precision)),
  constraint queue_deadline_seconds_check CHECK ((deadline_seconds >= (0)::double precision)),
  constraint queue_ids CHECK ((ids = ANY (ARRAY['reuse'::text, 'once'::text]))),
  constraint queue_kind_check CHECK ((kind = ANY (ARRAY['ticket'::text, 'job'::text, 'case'::text, 'task'::text]))),
  constraint queue_lease CHECK ((lease = ANY (ARRAY['fixed'::text, 'adaptive'::text]))),
  constraint queue_lease_seconds_check CHECK ((lease_seconds > (0)::double precision)),
  constraint queue_level_seconds_check CHECK ((level_seconds > (0)::double precision)),
  constraint queue_max_attempts_check CHECK ((max_attempts > 0)),
  constraint queue_max_held_check CHECK ((max_held > 0)),
  constraint queue_service_seconds_check CHECK ((service_seconds > (0)::double precision)),
  constraint queue_sync CHECK ((sync = 'subject'::text)),
  constraint queue_workflow_check CHECK ((workflow = ANY (ARRAY['always'::text, 'when-needed'::text])))
);
CREATE INDEX queue_assist ON public.queue USING btree (name) WHERE (assist IS NOT NULL);
CREATE INDEX queue_draws ON public.queue USING btree (kind) WHERE ((second IS NOT NULL) OR (assist IS NOT NULL));
CREATE UNIQUE INDEX queue_newest ON public.queue USING btree (kind, seq);
comment on column queue.level_seconds is 'ageing: seconds of waiting worth one priority level; null = strict priority';
comment on column queue.sync is 'tickets: subject: a decision decides the other open tickets of its subject';
comment on column queue.second is 'when its decisions get a second look; null: only when one is asked for';
comment on column queue.category_from is 'JSON pointer to the category of a ticket in its body';
comment on column queue.service_seconds is 'tickets: the target from the first availability to the decision';
comment on column queue.adaptive_seconds is 'length of a lease now, by what decisions have taken; null: lease_seconds, as too few are known, or it is fixed';
comment on column queue.assist is 'mode, minConfidence, share; null: models have never had a part in it';
comment on column queue.gold is 'at what share gold is handed out; null: at none, and no copy is open';
comment on column queue.desk is 'what the desk alone reads: highlight, guidelines; null: neither';

create table reconciliation (
  one                  boolean default true not null,
  store                text collate "C" not null,
  stage                text collate "C",
  after_kind           text collate "C" default ''::text not null,
  after_id             text collate "C" default ''::text not null,
  after_n              integer default 0 not null,
  started_at           timestamp with time zone default clock_timestamp() not null,
  finished_at          timestamp with time zone,
  epoch                bigint default 0 not null,
  constraint reconciliation_pkey PRIMARY KEY (one),
  constraint reconciliation_one_check CHECK (one)
);

create table resync (
  id                   bigint generated always as identity not null,
  what                 text collate "C" not null,
  parent               text collate "C" not null,
  name                 text collate "C" not null,
  n                    integer default 0 not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint resync_pkey PRIMARY KEY (id),
  constraint resync_what_check CHECK ((what = ANY (ARRAY['schedule'::text, 'delivery'::text])))
);
CREATE INDEX resync_at ON public.resync USING btree (at);

create table review (
  id                   text collate "C" not null,
  record               jsonb not null,
  body                 json,
  callback             jsonb,
  version              bigint default nextval('item_version'::regclass) not null,
  log_seq              integer default 0 not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  seq                  bigint generated always as identity not null,
  erased               boolean default false not null,
  constraint review_pkey PRIMARY KEY (id),
  constraint review_seq_key UNIQUE (seq)
);

create table review_base (
  review_id            text collate "C" not null,
  status               integer not null,
  pictures             integer not null,
  replies              integer not null,
  version              bigint not null,
  updated_at           timestamp with time zone not null,
  constraint review_base_pkey PRIMARY KEY (review_id)
);

create table review_body (
  review_id            text collate "C" not null,
  until_seq            integer not null,
  body                 json,
  constraint review_body_pkey PRIMARY KEY (review_id, until_seq)
);

create table review_callback (
  arrival              bigint generated always as identity not null,
  review_id            text collate "C" not null,
  callback_id          text collate "C",
  kind                 text collate "C" not null,
  target_id            text collate "C",
  status               integer,
  audit_time           timestamp with time zone,
  received_at          timestamp with time zone default clock_timestamp() not null,
  repeated             boolean default false not null,
  outcome              text collate "C" default 'pending'::text not null,
  reason               text collate "C",
  seq                  integer,
  applied_at           timestamp with time zone,
  before               jsonb,
  after                jsonb,
  version              bigint,
  actor                text collate "C" default 'anonymous'::text not null,
  before_time          timestamp with time zone,
  constraint review_callback_pkey PRIMARY KEY (arrival),
  constraint review_callback_kind_check CHECK ((kind = ANY (ARRAY['text'::text, 'picture'::text, 'reply'::text, 'edit'::text]))),
  constraint review_callback_outcome_check CHECK ((outcome = ANY (ARRAY['pending'::text, 'applied'::text, 'expired'::text, 'duplicate'::text, 'edited'::text]))),
  constraint review_callback_resolved CHECK ((((outcome = 'pending'::text) = (seq IS NULL)) AND ((seq IS NULL) = (applied_at IS NULL))))
);
CREATE INDEX review_callback_edit ON public.review_callback USING btree (review_id, seq) WHERE (kind = 'edit'::text);
CREATE UNIQUE INDEX review_callback_log ON public.review_callback USING btree (review_id, seq) WHERE (seq IS NOT NULL);
CREATE UNIQUE INDEX review_callback_once ON public.review_callback USING btree (review_id, callback_id) WHERE (NOT repeated);
CREATE INDEX review_callback_pending ON public.review_callback USING btree (review_id, arrival) WHERE (outcome = 'pending'::text);
comment on column review_callback.before_time is 'the target''s audit time before this line, as `before` is its status';

create table review_index (
  review_id            text collate "C" not null,
  kind                 text collate "C" not null,
  target_id            text collate "C" not null,
  "position"           integer not null,
  status               integer not null,
  audit_time           timestamp with time zone,
  arrival              bigint,
  removed_at           timestamp with time zone,
  constraint review_index_pkey PRIMARY KEY (review_id, kind, target_id),
  constraint review_index_applied CHECK (((arrival IS NULL) OR (audit_time IS NOT NULL))),
  constraint review_index_kind_check CHECK ((kind = ANY (ARRAY['text'::text, 'picture'::text, 'reply'::text])))
);
CREATE UNIQUE INDEX review_picture ON public.review_index USING btree (target_id) WHERE ((kind = 'picture'::text) AND (removed_at IS NULL));
CREATE INDEX review_picture_ever ON public.review_index USING btree (target_id, removed_at) WHERE (kind = 'picture'::text);

create table reviewer (
  name                 text collate "C" not null,
  seq                  bigint generated always as identity not null,
  person               text collate "C",
  display_name         text collate "C",
  skills               text[] collate "C" not null,
  per_day              integer,
  exposure             jsonb not null,
  away_until           timestamp with time zone,
  timezone             text collate "C" not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  constraint reviewer_pkey PRIMARY KEY (name),
  constraint reviewer_per_day_check CHECK ((per_day >= 0))
);
CREATE INDEX reviewer_away ON public.reviewer USING btree (away_until) WHERE (away_until IS NOT NULL);
CREATE INDEX reviewer_one ON public.reviewer USING btree (COALESCE(person, name));
CREATE UNIQUE INDEX reviewer_seq ON public.reviewer USING btree (seq);
comment on column reviewer.seq is 'of several names of a person the time zone of the first holds';
comment on column reviewer.person is 'names of the same person are one; null: the name itself';
comment on column reviewer.exposure is 'most tickets of a category a day';

create table reviewer_day (
  name                 text collate "C" not null,
  day                  date not null,
  n                    integer not null,
  categories           jsonb not null,
  constraint reviewer_day_pkey PRIMARY KEY (name, day)
)
with (fillfactor=70);
CREATE INDEX reviewer_day_day ON public.reviewer_day USING btree (day);
comment on table reviewer_day is 'tickets handed out under a registered name that its person had not had before';

create table sample (
  kind                 text collate "C" not null,
  queue                text collate "C" not null,
  at                   timestamp with time zone not null,
  delayed              bigint not null,
  ready                bigint not null,
  held                 bigint not null,
  buried               bigint not null,
  settled              bigint not null,
  invalidated          bigint not null,
  expired              bigint not null,
  dead                 bigint not null,
  granted              bigint not null,
  lease_expired        bigint not null,
  votes                bigint not null,
  wasted               bigint not null,
  failed               bigint not null,
  oldest               timestamp with time zone,
  constraint sample_pkey PRIMARY KEY (kind, queue, at)
)
with (autovacuum_vacuum_insert_scale_factor=0.2);
CREATE INDEX sample_at ON public.sample USING btree (at);
comment on column sample.queue is 'empty: all queues of the kind together';
comment on column sample.failed is 'deliveries that are given up';
comment on column sample.oldest is 'since when the oldest has been waiting; null: none, or all queues together';

create table sample_due (
  kind                 text collate "C" not null,
  queue                text collate "C" not null,
  since                timestamp with time zone default clock_timestamp() not null,
  constraint sample_due_pkey PRIMARY KEY (kind, queue)
)
with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE INDEX sample_due_since ON public.sample_due USING btree (since);

create table sample_state (
  one                  boolean default true not null,
  began_at             timestamp with time zone not null,
  sampled_at           timestamp with time zone not null,
  thinned_until        timestamp with time zone not null,
  constraint sample_state_pkey PRIMARY KEY (one),
  constraint sample_state_one_check CHECK (one)
);
comment on column sample_state.began_at is 'nothing is known of what was before';

create table saved (
  owner                text collate "C" not null,
  name                 text collate "C" not null,
  seq                  bigint generated always as identity not null,
  value                jsonb not null,
  shared               boolean not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  kind                 text collate "C" not null,
  queue                text collate "C" not null,
  constraint saved_pkey PRIMARY KEY (kind, owner, queue, name),
  constraint saved_kind_check CHECK ((kind = ANY (ARRAY['view'::text, 'macro'::text, 'defaults'::text])))
);
comment on column saved.shared is 'everybody reads it';
comment on column saved.queue is 'that a macro answers for; empty: none';

create table schedule (
  topic                text collate "C" not null,
  name                 text collate "C" not null,
  every_seconds        double precision,
  cron                 text collate "C",
  timezone             text collate "C" default 'UTC'::text not null,
  body                 json not null,
  ttr                  double precision not null,
  priority             bigint not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  seq                  bigint generated always as identity not null,
  constraint schedule_pkey PRIMARY KEY (topic, name),
  constraint schedule_every_seconds_check CHECK ((every_seconds > (0)::double precision)),
  constraint schedule_one_rhythm CHECK (((every_seconds IS NULL) <> (cron IS NULL)))
);

create table schema_edition (
  one                  boolean default true not null,
  edition              integer not null,
  min_compatible       integer not null,
  constraint schema_edition_pkey PRIMARY KEY (one),
  constraint schema_edition_one_check CHECK (one)
);

create table schema_function (
  signature            text not null,
  step                 text not null,
  hash                 text not null,
  edition              integer not null,
  constraint schema_function_pkey PRIMARY KEY (signature)
);

create table schema_step (
  name                 text not null,
  hash                 text not null,
  applied_at           timestamp with time zone default clock_timestamp() not null,
  constraint schema_step_pkey PRIMARY KEY (name)
);

create table session (
  hash                 bytea not null,
  key_id               text collate "C" not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  expires_at           timestamp with time zone not null,
  constraint session_pkey PRIMARY KEY (hash)
);
CREATE INDEX session_expires ON public.session USING btree (expires_at);
comment on column session.hash is 'of its token, which is not kept';

create table stream_ticket (
  hash                 bytea not null,
  key_id               text collate "C" not null,
  actor                text collate "C" not null,
  role                 text collate "C" not null,
  subject              text collate "C",
  expires_at           timestamp with time zone not null,
  session              bytea,
  constraint stream_ticket_pkey PRIMARY KEY (hash)
);

create table suggestion (
  item_id              text collate "C" not null,
  model                text collate "C" not null,
  queue                text collate "C" not null,
  mode                 text collate "C" not null,
  decision             json,
  confidence           double precision not null,
  reasons              json,
  hash                 bytea not null,
  form_version         bigint,
  content_version      bigint,
  decides              boolean not null,
  shown_to             text[] collate "C" default '{}'::text[] not null,
  seq                  bigint generated always as identity not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint suggestion_pkey PRIMARY KEY (item_id, model),
  constraint suggestion_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
  constraint suggestion_mode_check CHECK ((mode = ANY (ARRAY['off'::text, 'shadow'::text, 'suggest'::text, 'auto'::text])))
);
CREATE INDEX suggestion_deciding ON public.suggestion USING btree (queue, confidence) WHERE decides;
comment on table suggestion is 'what models suggest for tickets, one of each model; without a decision: erased';
comment on column suggestion.queue is 'in which it came; only there it is shown and decides';
comment on column suggestion.mode is 'of the queue when it came';
comment on column suggestion.form_version is 'settings version whose form it was checked against; null: none';
comment on column suggestion.content_version is 'of the ticket when it came; made of other content it is not used';
comment on column suggestion.decides is 'it came in mode auto, and is not known to miss the form or be late';

create table taken_task (
  person               text collate "C" not null,
  item_id              text collate "C" not null,
  constraint taken_task_pkey PRIMARY KEY (person, item_id)
);
CREATE INDEX taken_task_of_item ON public.taken_task USING btree (item_id);

create table tally_line (
  kind                 text collate "C" not null,
  queue                text collate "C" not null,
  what                 text collate "C" not null,
  n                    bigint not null,
  at                   timestamp with time zone,
  was                  text collate "C"
);
CREATE INDEX tally_line_queue ON public.tally_line USING btree (kind, queue, what) INCLUDE (n, at);
comment on column tally_line.at is 'of items handed out: when; null where it does not matter, or no longer';
comment on column tally_line.was is 'the state that as many have left; null: none';

create table tally_sum (
  kind                 text collate "C" not null,
  queue                text collate "C" not null,
  what                 text collate "C" not null,
  n                    bigint not null,
  constraint tally_sum_pkey PRIMARY KEY (kind, queue, what)
)
with (fillfactor=70);
comment on table tally_sum is 'sums of the lines that are no longer there, so that a count is their sum and that of the lines';

create table task (
  id                   text collate "C" not null,
  seq                  bigint generated always as identity not null,
  type                 text collate "C" not null,
  executor             text collate "C" not null,
  queue                text collate "C" not null,
  start_time           timestamp with time zone not null,
  every_minutes        integer,
  daily_time           text collate "C",
  every_days           integer not null,
  timezone             text collate "C" not null,
  template_id          text collate "C" not null,
  params               json not null,
  dispatch_times       integer not null,
  dispatch             text collate "C" not null,
  catch_up             text collate "C" not null,
  lookback_seconds     double precision not null,
  answer_seconds       double precision,
  end_time             timestamp with time zone,
  callback             jsonb,
  state                text collate "C" default 'active'::text not null,
  content_hash         bytea not null,
  made_until           timestamp with time zone default '-infinity'::timestamp with time zone not null,
  revision             integer default 1 not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  max_lookback_seconds double precision,
  template_version     integer default 1 not null,
  erased               boolean default false not null,
  constraint task_pkey PRIMARY KEY (id),
  constraint task_answer_seconds_check CHECK ((answer_seconds > (0)::double precision)),
  constraint task_catch_up_check CHECK ((catch_up = ANY (ARRAY['all'::text, 'newest'::text]))),
  constraint task_daily_time_check CHECK ((daily_time ~ '^\d\d:\d\d$'::text)),
  constraint task_dispatch_check CHECK ((dispatch = ANY (ARRAY['each-once'::text, 'blocking'::text]))),
  constraint task_dispatch_times_check CHECK ((dispatch_times > 0)),
  constraint task_every_days_check CHECK ((every_days > 0)),
  constraint task_every_minutes_check CHECK ((every_minutes > 0)),
  constraint task_lookback_seconds_check CHECK ((lookback_seconds >= (0)::double precision)),
  constraint task_max_lookback CHECK ((max_lookback_seconds >= (0)::double precision)),
  constraint task_rhythm CHECK (
CASE type
    WHEN 'once'::text THEN ((every_minutes IS NULL) AND (daily_time IS NULL))
    ELSE ((every_minutes IS NULL) <> (daily_time IS NULL))
END),
  constraint task_state_check CHECK ((state = ANY (ARRAY['active'::text, 'deleted'::text]))),
  constraint task_type_check CHECK ((type = ANY (ARRAY['once'::text, 'rotate'::text])))
);
CREATE INDEX task_executor ON public.task USING btree (queue, start_time, seq);
CREATE INDEX task_look_back ON public.task USING btree (queue, lookback_seconds) WHERE (state = 'active'::text);
CREATE INDEX task_start ON public.task USING btree (start_time, seq);

create table task_group (
  id                   text collate "C" not null,
  seq                  bigint generated always as identity not null,
  given_as             text collate "C" not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  size                 integer default 0 not null,
  constraint task_group_pkey PRIMARY KEY (id),
  constraint task_group_seq_key UNIQUE (seq)
);

create table task_template (
  id                   text collate "C" not null,
  seq                  bigint generated always as identity not null,
  name                 text collate "C" not null,
  params               json not null,
  content_hash         bytea not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  version              integer default 1 not null,
  constraint task_template_pkey PRIMARY KEY (id),
  constraint task_template_seq_key UNIQUE (seq)
);

create table task_template_version (
  template_id          text collate "C" not null,
  version              integer not null,
  params               json not null,
  constraint task_template_version_pkey PRIMARY KEY (template_id, version)
);
comment on table task_template_version is 'earlier parameters of templates';

create table ticket_text (
  id                   text collate "C" not null,
  words                tsvector not null,
  constraint ticket_text_pkey PRIMARY KEY (id)
);
CREATE INDEX ticket_text_words ON public.ticket_text USING gin (words);

create table unpublished (
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint unpublished_pkey PRIMARY KEY (kind, item_id)
)
with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE INDEX unpublished_at ON public.unpublished USING btree (at);

create table vote (
  token                text collate "C" not null,
  seq                  bigint generated always as identity not null,
  case_id              text collate "C" not null,
  court                text collate "C" not null,
  juror                text collate "C" not null,
  person               text collate "C" not null,
  option               text collate "C" not null,
  comment              text collate "C",
  at                   timestamp with time zone not null,
  counted              boolean not null,
  gold                 boolean not null,
  constraint vote_pkey PRIMARY KEY (token)
);
CREATE INDEX vote_at ON public.vote USING btree (court, at);
CREATE UNIQUE INDEX vote_once ON public.vote USING btree (case_id, person);
CREATE INDEX vote_order ON public.vote USING btree (case_id, seq);

create table wait (
  workflow_id          text collate "C" not null,
  kind                 text collate "C" not null,
  item_id              text collate "C" not null,
  run                  integer not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  wake_at              timestamp with time zone,
  answered             boolean default false not null,
  constraint wait_pkey PRIMARY KEY (workflow_id)
);
CREATE INDEX wait_item ON public.wait USING btree (kind, item_id);
CREATE INDEX wait_wake ON public.wait USING btree (wake_at) WHERE (wake_at IS NOT NULL);
comment on column wait.wake_at is 'when its workflow is signalled next; null: the item is open';
comment on column wait.answered is 'its workflow has read the outcome';

create view driven as
 SELECT item.kind,
    item.id,
    item.queue,
    item.state,
    item.version,
    item.wake_at,
    item.holder,
    item.delivery_pending,
    item.event_seq,
    item.last_event,
    item.last_actor,
    item.updated_at,
    item.lacks_jurors
   FROM item
UNION ALL
 SELECT 'review'::text AS kind,
    review.id,
    ''::text AS queue,
    'ready'::text AS state,
    review.version,
    NULL::timestamp with time zone AS wake_at,
    NULL::text AS holder,
    true AS delivery_pending,
    review.log_seq AS event_seq,
    'received'::text AS last_event,
    'system'::text AS last_actor,
    review.updated_at,
    false AS lacks_jurors
   FROM review;

create view tally as
 SELECT tally_sum.kind,
    tally_sum.queue,
    tally_sum.what,
    tally_sum.n,
    NULL::timestamp with time zone AS at
   FROM tally_sum
UNION ALL
 SELECT tally_line.kind,
    tally_line.queue,
    tally_line.what,
    tally_line.n,
    tally_line.at
   FROM tally_line
UNION ALL
 SELECT tally_line.kind,
    tally_line.queue,
    tally_line.was AS what,
    (- tally_line.n) AS n,
    NULL::timestamp with time zone AS at
   FROM tally_line
  WHERE (tally_line.was IS NOT NULL);
