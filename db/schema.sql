-- What the migrations and functions of db/ make, for reading. Written by `npm run schema`;
-- `npm run check` fails when it is not what they make.

create sequence item_buried;

create sequence item_version;

create sequence juror_list_number;

create table api_key (
  id                   text not null,
  name                 text not null,
  role                 text not null,
  subject              text,
  hash                 bytea not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  revoked_at           timestamp with time zone,
  queues               text[],
  expires_at           timestamp with time zone,
  seq                  bigint generated always as identity not null,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_queues_check CHECK ((cardinality(queues) > 0)),
  constraint api_key_reviewer_has_subject CHECK (((role <> 'reviewer'::text) OR (subject IS NOT NULL))),
  constraint api_key_role_check CHECK ((role = ANY (ARRAY['producer'::text, 'reviewer'::text, 'agent'::text, 'consumer'::text, 'admin'::text])))
);
CREATE UNIQUE INDEX api_key_newest ON public.api_key USING btree (seq);

create table case_file (
  id                   text collate "C" not null,
  court                text collate "C" not null,
  parties              jsonb not null,
  party_ids            text[] not null,
  party_persons        text[] not null,
  gold                 text,
  tally                jsonb default '{}'::jsonb not null,
  votes                integer default 0 not null,
  votes_left           integer not null,
  stage                integer default 0 not null,
  holds                integer default 0 not null,
  wasted               integer default 0 not null,
  extended             boolean default false not null,
  winner               text,
  constraint case_file_pkey PRIMARY KEY (id),
  constraint case_never_votes_in_excess CHECK ((votes_left >= 0))
)
with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX case_gold ON public.case_file USING btree (court) WHERE (gold IS NOT NULL);

create table court (
  name                 text collate "C" not null,
  options              text[] not null,
  votes_to_win         integer not null,
  panel                integer,
  overbook             integer not null,
  window_cases         integer,
  window_seconds       double precision,
  votes_per_day        integer,
  mode                 text not null,
  assign_jurors        integer,
  answer_seconds       double precision,
  invites_per_day      integer,
  record_late          boolean not null,
  quality              jsonb,
  fallback             jsonb,
  gold_share           double precision not null,
  admit                text not null,
  pick                 text not null,
  decide               text not null,
  around               boolean not null,
  bar_agreement        double precision,
  bar_after            integer,
  bar_newcomers        boolean not null,
  list                 bigint default 0 not null,
  invitation_callback  jsonb,
  constraint court_pkey PRIMARY KEY (name),
  constraint court_answer_seconds_check CHECK ((answer_seconds > (0)::double precision)),
  constraint court_assign_jurors_check CHECK ((assign_jurors > 0)),
  constraint court_assignment CHECK (((mode = 'claim'::text) OR ((assign_jurors IS NOT NULL) AND (answer_seconds IS NOT NULL)))),
  constraint court_check CHECK ((panel >= votes_to_win)),
  constraint court_invites_per_day_check CHECK ((invites_per_day > 0)),
  constraint court_mode_check CHECK ((mode = ANY (ARRAY['claim'::text, 'assign'::text, 'both'::text]))),
  constraint court_options_check CHECK ((cardinality(options) > 1)),
  constraint court_overbook_check CHECK ((overbook >= 0)),
  constraint court_votes_per_day_check CHECK ((votes_per_day > 0)),
  constraint court_votes_to_win_check CHECK ((votes_to_win > 0)),
  constraint court_window CHECK (((window_cases IS NULL) = (window_seconds IS NULL))),
  constraint court_window_cases_check CHECK ((window_cases > 0)),
  constraint court_window_seconds_check CHECK ((window_seconds > (0)::double precision))
);
comment on column court.around is 'claims begin at a random place of the order instead of at its head';

create table delivery (
  kind                 text not null,
  item_id              text not null,
  n                    integer not null,
  type                 text not null,
  version              bigint not null,
  url                  text not null,
  state                text not null,
  attempts             integer default 0 not null,
  status               integer,
  error                text,
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
  kind                 text not null,
  item_id              text not null,
  n                    integer not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint delivery_start_pkey PRIMARY KEY (kind, item_id, n)
)
with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE INDEX delivery_start_at ON public.delivery_start USING btree (at);

create table event (
  kind                 text not null,
  item_id              text collate "C" not null,
  seq                  integer not null,
  type                 text not null,
  actor                text not null,
  at                   timestamp with time zone not null,
  data                 json,
  id                   bigint generated always as identity not null,
  constraint event_pkey PRIMARY KEY (kind, item_id, seq)
)
with (autovacuum_vacuum_insert_scale_factor=0.2);
CREATE INDEX event_dispatch ON public.event USING btree (at, item_id, seq) WHERE ((kind = 'task'::text) AND (type = ANY (ARRAY['dispatched'::text, 'completed'::text, 'returned'::text])));
CREATE INDEX event_dispatch_user ON public.event USING btree (((data ->> 'person'::text)), at, item_id, seq) WHERE ((kind = 'task'::text) AND (type = ANY (ARRAY['dispatched'::text, 'completed'::text, 'returned'::text])));
CREATE UNIQUE INDEX event_id ON public.event USING btree (id);
comment on column event.id is 'drawn under the item''s lock by a transaction that has its number already; never cache more than one';

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

create table item (
  kind                 text not null,
  id                   text collate "C" not null,
  queue                text collate "C" not null,
  seq                  bigint generated by default as identity not null,
  state                text not null,
  priority             bigint default 0 not null,
  rank                 bigint not null,
  front                boolean default false not null,
  body                 json not null,
  content_hash         bytea not null,
  requires             text[] default '{}'::text[] not null,
  requires_key         text collate "C" generated always as (requires_key(requires)) stored not null,
  exclude              text[] default '{}'::text[] not null,
  skipped              text[] default '{}'::text[] not null,
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
  lease_id             text,
  holder               text,
  granted_at           timestamp with time zone,
  expires_at           timestamp with time zone,
  lease_follows        text,
  lease_end            text,
  ended_at             timestamp with time zone,
  ended_by             text,
  end_reason           text,
  result               json,
  result_hash          bytea,
  settled_token        text,
  next_wanted          boolean default false not null,
  telling              boolean default false not null,
  event_seq            integer not null,
  last_event           text not null,
  last_actor           text not null,
  last_data            json,
  updated_at           timestamp with time zone not null,
  lease_seconds        double precision,
  delay_seconds        double precision default 0 not null,
  buried_seq           bigint,
  body_bytes           integer,
  room                 integer,
  inviting             boolean default false not null,
  closing              boolean default false not null,
  stocked_by           xid8,
  base_priority        bigint,
  base_requires        text[],
  ruled                jsonb,
  manual_priority      boolean default false not null,
  manual_requires      boolean default false not null,
  rules_due_at         timestamp with time zone,
  constraint item_pkey PRIMARY KEY (kind, id),
  constraint item_buried_in_order CHECK (((state = 'buried'::text) = (buried_seq IS NOT NULL))),
  constraint item_due_has_wake CHECK ((((state <> 'delayed'::text) OR (wake_at IS NOT NULL)) AND ((state <> 'held'::text) OR (wake_at IS NOT NULL)))),
  constraint item_final_has_end CHECK ((((state = ANY (ARRAY['settled'::text, 'invalidated'::text, 'expired'::text, 'dead'::text])) = (ended_at IS NOT NULL)) AND ((ended_at IS NULL) = (ended_by IS NULL)))),
  constraint item_final_invites_nobody CHECK (((NOT inviting) OR (ended_at IS NULL))),
  constraint item_final_sleeps CHECK (((ended_at IS NULL) OR (wake_at IS NULL))),
  constraint item_held_has_lease CHECK ((((state = 'held'::text) = (lease_id IS NOT NULL)) AND ((lease_id IS NULL) = (holder IS NULL)) AND ((lease_id IS NULL) = (granted_at IS NULL)) AND ((lease_id IS NULL) = (expires_at IS NULL)))),
  constraint item_lease_end_check CHECK ((lease_end = ANY (ARRAY['settled'::text, 'released'::text, 'revoked'::text, 'expired'::text, 'transferred'::text, 'closed'::text]))),
  constraint item_lease_seconds_check CHECK ((lease_seconds > (0)::double precision)),
  constraint item_open_is_not_told CHECK (((NOT telling) OR (ended_at IS NOT NULL))),
  constraint item_settled_has_result CHECK (((state = 'settled'::text) = (result IS NOT NULL))),
  constraint item_state CHECK ((state = ANY (ARRAY['delayed'::text, 'ready'::text, 'held'::text, 'buried'::text, 'settled'::text, 'invalidated'::text, 'expired'::text, 'dead'::text]))),
  constraint item_task_has_stock CHECK (((kind <> 'task'::text) OR (room IS NULL) OR (room >= 0)))
)
with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.1, autovacuum_vacuum_cost_delay=1);
CREATE INDEX item_buried_order ON public.item USING btree (queue, kind, buried_seq) WHERE (state = 'buried'::text);
CREATE INDEX item_created ON public.item USING btree (queue, kind, created_at, seq);
CREATE INDEX item_decided_by ON public.item USING btree (queue, ended_by, created_at, seq) WHERE ((kind = 'ticket'::text) AND (state = 'settled'::text));
CREATE INDEX item_delayed ON public.item USING btree (queue, kind, available_at) WHERE (state = 'delayed'::text);
CREATE INDEX item_holder ON public.item USING btree (queue, kind, holder) WHERE (state = 'held'::text);
CREATE INDEX item_inviting ON public.item USING btree (queue, rank, seq) WHERE ((kind = 'case'::text) AND inviting);
CREATE UNIQUE INDEX item_job_number ON public.item USING btree (seq) WHERE (kind = 'job'::text);
CREATE INDEX item_oldest ON public.item USING btree (queue, kind, first_available_at) WHERE (state = 'ready'::text);
CREATE INDEX item_ready ON public.item USING btree (queue, kind, requires_key, rank, seq) WHERE (state = 'ready'::text);
CREATE INDEX item_room ON public.item USING btree (queue, rank, seq) WHERE ((kind = 'case'::text) AND (state = 'ready'::text) AND (room > 0));
CREATE INDEX item_rules_due ON public.item USING btree (rules_due_at) WHERE ((rules_due_at IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX item_state ON public.item USING btree (queue, kind, state, created_at, seq) WHERE (state <> 'held'::text);
CREATE INDEX item_stock ON public.item USING btree (queue, rank, seq) WHERE ((kind = 'task'::text) AND (state = 'ready'::text) AND (room > 0));
CREATE INDEX item_stocked ON public.item USING btree (queue, stocked_by) WHERE ((kind = 'task'::text) AND (state = 'ready'::text) AND (room > 0));
CREATE INDEX item_telling ON public.item USING btree (kind, id) WHERE telling;
CREATE INDEX item_wake ON public.item USING btree (wake_at) WHERE (wake_at IS NOT NULL);
CREATE TRIGGER item_inserted AFTER INSERT ON public.item REFERENCING NEW TABLE AS new_item FOR EACH STATEMENT EXECUTE FUNCTION log_item_insert();
CREATE TRIGGER item_updated AFTER UPDATE ON public.item REFERENCING OLD TABLE AS old_item NEW TABLE AS new_item FOR EACH STATEMENT EXECUTE FUNCTION log_item_update();
comment on column item.lease_seconds is 'a lease time of its own; null: the queue''s';
comment on column item.body_bytes is 'length of a job''s body as beanstalkd''s protocol sends it';
comment on column item.room is 'items with capacity: how many more may hold it; null: one holder at most';
comment on column item.inviting is 'its workflow has people to invite';
comment on column item.closing is 'nothing more of it is handed out; it ends when the last of its holders has';
comment on column item.stocked_by is 'the transaction since which an occurrence could be dispatched to its executor; null: since its start, whenever it was made';

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

create table juror_list (
  court                text collate "C" not null,
  name                 text not null,
  list                 bigint not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint juror_list_pkey PRIMARY KEY (court, name)
);

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
  kind                 text not null,
  item_id              text collate "C" not null,
  queue                text collate "C" not null,
  holder               text collate "C" not null,
  slot                 text collate "C" default ''::text not null,
  granted_at           timestamp with time zone not null,
  ended_at             timestamp with time zone,
  why                  text,
  ended_by             text,
  follows              text,
  refused_at           timestamp with time zone,
  expires_at           timestamp with time zone,
  invited              boolean default false not null,
  given                json,
  result_hash          bytea,
  seen                 xid8,
  constraint lease_pkey PRIMARY KEY (token),
  constraint lease_end CHECK ((((ended_at IS NULL) = (why IS NULL)) AND ((ended_at IS NULL) = (ended_by IS NULL)))),
  constraint lease_order CHECK ((ended_at >= granted_at)),
  constraint lease_why_check CHECK ((why = ANY (ARRAY['settled'::text, 'released'::text, 'revoked'::text, 'expired'::text, 'transferred'::text, 'closed'::text])))
)
with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05);
CREATE INDEX lease_completed ON public.lease USING btree (slot, ended_at) WHERE ((kind = 'task'::text) AND (why = 'settled'::text));
CREATE UNIQUE INDEX lease_follows ON public.lease USING btree (follows) WHERE (follows IS NOT NULL);
CREATE INDEX lease_granted ON public.lease USING btree (kind, queue, granted_at);
CREATE UNIQUE INDEX lease_live ON public.lease USING btree (kind, item_id, slot) WHERE (ended_at IS NULL);
CREATE INDEX lease_of_case ON public.lease USING btree (item_id, slot) WHERE (kind = 'case'::text);
CREATE INDEX lease_of_task ON public.lease USING btree (item_id, slot) WHERE (kind = 'task'::text);
CREATE UNIQUE INDEX lease_one_case ON public.lease USING btree (queue, slot) WHERE ((kind = 'case'::text) AND (ended_at IS NULL));
CREATE UNIQUE INDEX lease_one_task ON public.lease USING btree (slot) WHERE ((kind = 'task'::text) AND (ended_at IS NULL));
CREATE INDEX lease_refused ON public.lease USING btree (queue, refused_at) WHERE ((kind = 'case'::text) AND (refused_at IS NOT NULL));
CREATE TRIGGER case_lease_ended AFTER UPDATE OF ended_at ON public.lease FOR EACH ROW WHEN (((new.kind = 'case'::text) AND (new.ended_at IS NOT NULL) AND (old.ended_at IS NULL))) EXECUTE FUNCTION note_freed_juror();
comment on column lease.expires_at is 'items with capacity; an exclusive item carries it itself';
comment on column lease.given is 'what the holder was given, where the item may change under it';
comment on column lease.seen is 'what older transactions had made was seen when this dispatch was chosen';

create table member (
  person               text collate "C" not null,
  group_id             text collate "C" not null,
  given_as             text not null,
  constraint member_pkey PRIMARY KEY (person, group_id)
);
CREATE INDEX member_of_group ON public.member USING btree (group_id, person);

create table node (
  id                   text not null,
  url                  text,
  role                 text not null,
  started_at           timestamp with time zone default clock_timestamp() not null,
  seen_at              timestamp with time zone default clock_timestamp() not null,
  constraint node_pkey PRIMARY KEY (id)
);

create table notice (
  seq                  bigint generated always as identity not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  kind                 text not null,
  item_id              text not null,
  queue                text not null,
  person               text not null,
  type                 text not null,
  data                 json not null,
  xid                  xid8 default pg_current_xact_id(),
  snap                 pg_snapshot default pg_current_snapshot(),
  constraint notice_pkey PRIMARY KEY (seq),
  constraint notice_type_check CHECK ((type = ANY (ARRAY['lease_lost'::text, 'changed'::text, 'invited'::text])))
);
CREATE INDEX notice_at ON public.notice USING btree (at);

create table operator_command (
  key                  text not null,
  kind                 text not null,
  item_id              text not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint operator_command_pkey PRIMARY KEY (key)
);

create table outbox (
  version              bigint not null,
  kind                 text not null,
  item_id              text not null,
  node                 text not null,
  at                   timestamp with time zone default clock_timestamp() not null,
  constraint outbox_pkey PRIMARY KEY (version)
)
with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
CREATE INDEX outbox_node ON public.outbox USING btree (node, version);

create table parked (
  kind                 text not null,
  item_id              text not null,
  until                timestamp with time zone not null,
  error                text not null,
  constraint parked_pkey PRIMARY KEY (kind, item_id)
);

create table queue (
  kind                 text not null,
  name                 text not null,
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
  constraint queue_pkey PRIMARY KEY (kind, name),
  constraint queue_deadline_seconds_check CHECK ((deadline_seconds >= (0)::double precision)),
  constraint queue_kind_check CHECK ((kind = ANY (ARRAY['ticket'::text, 'job'::text, 'case'::text, 'task'::text]))),
  constraint queue_lease_seconds_check CHECK ((lease_seconds > (0)::double precision)),
  constraint queue_level_seconds_check CHECK ((level_seconds > (0)::double precision)),
  constraint queue_max_attempts_check CHECK ((max_attempts > 0)),
  constraint queue_max_held_check CHECK ((max_held > 0))
);
CREATE UNIQUE INDEX queue_newest ON public.queue USING btree (kind, seq);
comment on column queue.level_seconds is 'ageing: seconds of waiting worth one priority level; null = strict priority';

create table reconciliation (
  one                  boolean default true not null,
  store                text not null,
  stage                text,
  after_kind           text default ''::text not null,
  after_id             text default ''::text not null,
  after_n              integer default 0 not null,
  started_at           timestamp with time zone default clock_timestamp() not null,
  finished_at          timestamp with time zone,
  constraint reconciliation_pkey PRIMARY KEY (one),
  constraint reconciliation_one_check CHECK (one)
);

create table resync (
  id                   bigint generated always as identity not null,
  what                 text not null,
  parent               text not null,
  name                 text not null,
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
  kind                 text not null,
  target_id            text collate "C",
  status               integer,
  audit_time           timestamp with time zone,
  received_at          timestamp with time zone default clock_timestamp() not null,
  repeated             boolean default false not null,
  outcome              text default 'pending'::text not null,
  reason               text,
  seq                  integer,
  applied_at           timestamp with time zone,
  before               jsonb,
  after                jsonb,
  version              bigint,
  actor                text default 'anonymous'::text not null,
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
  kind                 text not null,
  target_id            text collate "C" not null,
  "position"           integer not null,
  status               integer not null,
  audit_time           timestamp with time zone,
  arrival              bigint,
  removed_at           timestamp with time zone,
  constraint review_index_pkey PRIMARY KEY (review_id, kind, target_id),
  constraint review_index_applied CHECK (((audit_time IS NULL) = (arrival IS NULL))),
  constraint review_index_kind_check CHECK ((kind = ANY (ARRAY['text'::text, 'picture'::text, 'reply'::text])))
);
CREATE UNIQUE INDEX review_picture ON public.review_index USING btree (target_id) WHERE ((kind = 'picture'::text) AND (removed_at IS NULL));
CREATE INDEX review_picture_ever ON public.review_index USING btree (target_id, removed_at) WHERE (kind = 'picture'::text);

create table schedule (
  topic                text not null,
  name                 text not null,
  every_seconds        double precision,
  cron                 text,
  timezone             text default 'UTC'::text not null,
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

create table schema_step (
  name                 text not null,
  hash                 text not null,
  applied_at           timestamp with time zone default clock_timestamp() not null,
  constraint schema_step_pkey PRIMARY KEY (name)
);

create table stream_ticket (
  hash                 bytea not null,
  key_id               text not null,
  actor                text not null,
  role                 text not null,
  subject              text,
  expires_at           timestamp with time zone not null,
  constraint stream_ticket_pkey PRIMARY KEY (hash)
);

create table taken_task (
  person               text collate "C" not null,
  item_id              text collate "C" not null,
  constraint taken_task_pkey PRIMARY KEY (person, item_id)
);
CREATE INDEX taken_task_of_item ON public.taken_task USING btree (item_id);

create table tally (
  kind                 text not null,
  queue                text not null,
  what                 text not null,
  n                    bigint not null
);
CREATE INDEX tally_queue ON public.tally USING btree (kind, queue, what) INCLUDE (n);

create table task (
  id                   text collate "C" not null,
  seq                  bigint generated always as identity not null,
  type                 text not null,
  executor             text not null,
  queue                text collate "C" not null,
  start_time           timestamp with time zone not null,
  every_minutes        integer,
  daily_time           text,
  every_days           integer not null,
  timezone             text not null,
  template_id          text not null,
  params               json not null,
  dispatch_times       integer not null,
  dispatch             text not null,
  catch_up             text not null,
  lookback_seconds     double precision not null,
  answer_seconds       double precision,
  end_time             timestamp with time zone,
  callback             jsonb,
  state                text default 'active'::text not null,
  content_hash         bytea not null,
  made_until           timestamp with time zone default '-infinity'::timestamp with time zone not null,
  revision             integer default 1 not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  constraint task_pkey PRIMARY KEY (id),
  constraint task_answer_seconds_check CHECK ((answer_seconds > (0)::double precision)),
  constraint task_catch_up_check CHECK ((catch_up = ANY (ARRAY['all'::text, 'newest'::text]))),
  constraint task_daily_time_check CHECK ((daily_time ~ '^\d\d:\d\d$'::text)),
  constraint task_dispatch_check CHECK ((dispatch = ANY (ARRAY['each-once'::text, 'blocking'::text]))),
  constraint task_dispatch_times_check CHECK ((dispatch_times > 0)),
  constraint task_every_days_check CHECK ((every_days > 0)),
  constraint task_every_minutes_check CHECK ((every_minutes > 0)),
  constraint task_lookback_seconds_check CHECK ((lookback_seconds >= (0)::double precision)),
  constraint task_rhythm CHECK (
CASE type
    WHEN 'once'::text THEN ((every_minutes IS NULL) AND (daily_time IS NULL))
    ELSE ((every_minutes IS NULL) <> (daily_time IS NULL))
END),
  constraint task_state_check CHECK ((state = ANY (ARRAY['active'::text, 'deleted'::text]))),
  constraint task_type_check CHECK ((type = ANY (ARRAY['once'::text, 'rotate'::text])))
);
CREATE INDEX task_executor ON public.task USING btree (queue, start_time, seq);
CREATE INDEX task_start ON public.task USING btree (start_time, seq);

create table task_group (
  id                   text collate "C" not null,
  seq                  bigint generated always as identity not null,
  given_as             text not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  updated_at           timestamp with time zone default clock_timestamp() not null,
  size                 integer default 0 not null,
  constraint task_group_pkey PRIMARY KEY (id),
  constraint task_group_seq_key UNIQUE (seq)
);

create table task_template (
  id                   text collate "C" not null,
  seq                  bigint generated always as identity not null,
  name                 text not null,
  params               json not null,
  content_hash         bytea not null,
  created_at           timestamp with time zone default clock_timestamp() not null,
  constraint task_template_pkey PRIMARY KEY (id),
  constraint task_template_seq_key UNIQUE (seq)
);

create table vote (
  token                text collate "C" not null,
  seq                  bigint generated always as identity not null,
  case_id              text collate "C" not null,
  court                text collate "C" not null,
  juror                text collate "C" not null,
  person               text collate "C" not null,
  option               text not null,
  comment              text,
  at                   timestamp with time zone not null,
  counted              boolean not null,
  gold                 boolean not null,
  constraint vote_pkey PRIMARY KEY (token)
);
CREATE INDEX vote_at ON public.vote USING btree (court, at);
CREATE UNIQUE INDEX vote_once ON public.vote USING btree (case_id, person);
CREATE INDEX vote_order ON public.vote USING btree (case_id, seq);

create view told as
 SELECT item.kind,
    item.id,
    item.queue,
    item.state,
    item.version,
    item.wake_at,
    item.holder,
    item.telling,
    item.event_seq,
    item.last_event,
    item.last_actor,
    item.updated_at,
    item.inviting
   FROM item
UNION ALL
 SELECT 'review'::text AS kind,
    review.id,
    ''::text AS queue,
    'ready'::text AS state,
    review.version,
    NULL::timestamp with time zone AS wake_at,
    NULL::text AS holder,
    true AS telling,
    review.log_seq AS event_seq,
    'received'::text AS last_event,
    'system'::text AS last_actor,
    review.updated_at,
    false AS inviting
   FROM review;

CREATE OR REPLACE FUNCTION public.add_task(p_task json, p_limit integer, p_actor text)
 RETURNS TABLE(outcome text, item item)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  t task := json_populate_record(null::task, p_task);
  v_now timestamptz;
begin
  if t.type = 'rotate' then perform lock_rotations(t.queue); end if;
  perform 1 from task_template where id = t.template_id for key share;
  if not found then return query select 'no_template', null::item; return; end if;
  v_now := clock_timestamp();
  if t.type = 'rotate' and too_many_rotations(t.queue, t.id, p_limit) and not exists (select from task where id = t.id) then
    return query select 'limit', null::item; return;
  end if;
  if too_many_due(t, null, v_now) and not exists (select from task where id = t.id) then
    return query select 'too_many', null::item; return;
  end if;
  insert into task (id, type, executor, queue, start_time, every_minutes, daily_time, every_days, timezone, template_id, params,
                    dispatch_times, dispatch, catch_up, lookback_seconds, answer_seconds, end_time, callback, content_hash,
                    created_at, updated_at)
  values (t.id, t.type, t.executor, t.queue, t.start_time, t.every_minutes, t.daily_time, t.every_days, t.timezone, t.template_id, t.params,
          t.dispatch_times, t.dispatch, t.catch_up, t.lookback_seconds, t.answer_seconds, t.end_time, t.callback, t.content_hash,
          v_now, v_now)
  on conflict (id) do nothing;
  if not found then return query select 'exists', null::item; return; end if;
  if t.type = 'rotate' then
    insert into item (kind, id, queue, state, rank, body, content_hash, version, created_at, available_at, first_available_at,
                      wake_at, event_seq, last_event, last_actor, last_data, updated_at)
    values ('rotation', t.id, t.queue, 'delayed', 0, t.params, t.content_hash, nextval('item_version'), v_now, t.start_time, t.start_time,
            t.start_time, 1, 'created', p_actor, json_build_object('executor', t.executor), v_now);
  end if;
  return query select 'created', m from plan_task(t.id, v_now) m;
  -- of a task that has nothing to show yet
  if not found then return query select 'created', null::item; end if;
end $function$;

CREATE OR REPLACE FUNCTION public.advance_apart(p_kinds text[], p_ids text[])
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  v_began timestamptz := clock_timestamp();
  v_moved integer;
begin
  begin
    return query select * from advance(p_kinds, p_ids);
    get diagnostics v_moved = row_count;
    if v_moved < cardinality(p_ids) then perform settle_idle(p_kinds, p_ids, v_began); end if;
  exception when others then
    for n in 1 .. cardinality(p_ids) loop
      begin
        return query select * from advance(p_kinds[n:n], p_ids[n:n]);
      exception
        -- others were at it: it is due still, and the next beat does it
        when deadlock_detected or serialization_failure then null;
        when others then perform park_item(p_kinds[n], p_ids[n], sqlerrm);
      end;
    end loop;
  end;
end $function$;

CREATE OR REPLACE FUNCTION public.advance_cases(p_ids text[])
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  i item;
  f case_file;
  c court;
  v_jurors json;
  v_deadline timestamptz;
  v_now timestamptz;
begin
  for i in select * from item where kind = 'case' and id = any (p_ids) and ended_at is null order by id for update loop
    v_now := clock_timestamp();
    continue when i.wake_at is null or i.wake_at > v_now;
    select * into f from case_file where id = i.id;
    select * into c from court where name = f.court;
    -- by the settings of now, also while a change of them is still being applied to all cases
    v_deadline := i.deadline_at;
    i.deadline_at := case_deadline(i, f);
    if i.deadline_at is distinct from v_deadline then
      update item set deadline_at = i.deadline_at where kind = 'case' and id = i.id;
    end if;
    if i.deadline_at <= v_now and not f.extended and c.fallback ? 'extendSeconds' then
      update case_file set extended = true where id = i.id;
      update item set deadline_at = v_now + make_interval(secs => (c.fallback ->> 'extendSeconds')::double precision)
       where kind = 'case' and id = i.id;
      perform keep_case(i.id, 'extended', 'system', c.fallback::json, v_now);
    elsif i.deadline_at <= v_now then
      perform end_case(i.id, 'expired', 'hung', null, 'system', 'deadline', v_now);
    else
      with ended as (
        update lease set ended_at = greatest(v_now, granted_at), why = 'expired', ended_by = 'system'
         where kind = 'case' and item_id = i.id and ended_at is null and expires_at <= v_now returning queue, holder
      ), told as (
        insert into notice (kind, item_id, queue, person, type, data)
        select 'case', i.id, queue, holder, 'lease_lost', json_build_object('reason', 'expired', 'by', 'system') from ended
      ) select json_agg(holder) into v_jurors from ended;
      if v_jurors is null then perform keep_case(i.id, 'changed', 'system', json_build_object('deadlineAt', i.deadline_at), v_now);
      else perform keep_case(i.id, 'reclaimed', 'system', json_build_object('jurors', v_jurors), v_now);
      end if;
    end if;
    return query select * from item where kind = 'case' and id = i.id;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.advance_items(p_kinds text[], p_ids text[])
 RETURNS SETOF item
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  return query with due as materialized (
    select i.kind, i.id, q.reclaimed_first, q.level_seconds, q.escalations, q.rules,
           coalesce(i.callback, q.callback) is not null as tell, t.now, step.priority, step.seconds,
           case when i.deadline_at <= t.now then 'expired'
                when i.state = 'held' and i.expires_at <= t.now then
                  case when i.attempts < q.max_attempts or q.max_attempts is null then 'reclaimed'
                       when i.kind = 'job' then 'buried' else 'dead' end
                when i.state = 'delayed' and i.available_at <= t.now then 'available'
                when step.priority > i.priority then 'escalated'
                when step.seconds is not null then 'stepped' end as act
      from unnest(p_kinds, p_ids) as p (kind, id)
      join item i on i.kind = p.kind and i.id = p.id and i.kind not in ('case', 'task', 'rotation') and i.ended_at is null
      join queue q on q.kind = i.kind and q.name = i.queue
     cross join (select clock_timestamp() as now) t
     cross join lateral (
       select max(s.priority) as priority, max(s."afterSeconds") as seconds
         from jsonb_to_recordset(q.escalations) as s("afterSeconds" double precision, priority bigint)
        where s."afterSeconds" > i.escalated_seconds
          and i.first_available_at + make_interval(secs => s."afterSeconds") <= t.now) step
     order by i.kind, i.id
  ), next as materialized (
    select i.kind, i.id, d.act, d.now, d.tell,
           case d.act when 'expired' then 'expired' when 'dead' then 'dead' when 'buried' then 'buried'
                      when 'reclaimed' then 'ready' when 'available' then 'ready' else i.state end as state,
           case when d.act = 'escalated' then d.priority else i.priority end as priority,
           case when d.act in ('escalated', 'stepped') then d.seconds else i.escalated_seconds end as escalated_seconds,
           case when d.act = 'reclaimed' then d.reclaimed_first else i.front end as front,
           d.act in ('expired', 'dead') as final,
           d.act in ('expired', 'dead', 'buried', 'reclaimed') and i.state = 'held' as ends_lease,
           d.level_seconds, d.escalations, d.rules
      from due d join item i on i.kind = d.kind and i.id = d.id
     where d.act is not null
  )
  update item i
     set state = n.state, priority = n.priority, escalated_seconds = n.escalated_seconds, front = n.front,
         rank = case when n.act in ('reclaimed', 'escalated')
                     then item_rank(i.kind, n.priority, i.first_available_at, n.level_seconds, n.front) else i.rank end,
         rules_due_at = case when n.act = 'reclaimed' and n.rules <> '[]' then n.now else i.rules_due_at end,
         wake_at = case when n.final then null else item_wake(
           n.state, i.available_at, i.expires_at, i.deadline_at,
           next_escalation(n.escalations, i.first_available_at, n.escalated_seconds)) end,
         lease_id   = case when n.ends_lease then null else i.lease_id end,
         holder     = case when n.ends_lease then null else i.holder end,
         granted_at = case when n.ends_lease then null else i.granted_at end,
         expires_at = case when n.ends_lease then null else i.expires_at end,
         lease_end  = case when not n.ends_lease then i.lease_end when n.act = 'expired' then 'closed' else 'expired' end,
         buried_seq = case when n.state = 'buried' then coalesce(i.buried_seq, nextval('item_buried')) end,
         ended_at   = case when n.final then n.now end,
         ended_by   = case when n.final then 'system' end,
         telling    = n.final and n.tell,
         version    = case when n.act = 'stepped' then i.version else nextval('item_version') end,
         event_seq  = case when n.act = 'stepped' then i.event_seq else i.event_seq + 1 end,
         last_event = case when n.act = 'stepped' then i.last_event else n.act end,
         last_actor = case when n.act = 'stepped' then i.last_actor else 'system' end, updated_at = n.now,
         last_data  = case n.act when 'stepped' then i.last_data
           when 'reclaimed' then json_build_object('reviewer', i.holder, 'expiredAt', iso_time(i.expires_at))
           when 'dead'      then json_build_object('reviewer', i.holder, 'attempts', i.attempts)
           when 'buried'    then json_build_object('reason', 'attempts', 'attempts', i.attempts)
           when 'expired'   then json_build_object('deadlineAt', iso_time(i.deadline_at), 'reviewer', i.holder)
           when 'escalated' then json_build_object('from', i.priority, 'to', n.priority) end
    from next n
   where i.kind = n.kind and i.id = n.id
  returning i.*;
end $function$;

CREATE OR REPLACE FUNCTION public.advance_rotations(p_ids text[])
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  i item;
  v_now timestamptz;
begin
  for i in select * from item where kind = 'rotation' and id = any (p_ids) and ended_at is null order by id for update loop
    v_now := clock_timestamp();
    continue when i.wake_at is null or i.wake_at > v_now;
    return query select * from plan_task(i.id, v_now);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.advance_tasks(p_ids text[])
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  i item;
  v_now timestamptz;
begin
  for i in select * from item where kind = 'task' and id = any (p_ids) and ended_at is null order by id for update loop
    v_now := clock_timestamp();
    continue when i.wake_at is null or i.wake_at > v_now;
    perform return_dispatches(i.id, 'expired', true, 'system', v_now);
    if i.deadline_at <= v_now and i.room > 0 then
      perform keep_occurrence(i.id, 'expired', 'system', json_build_object('reason', 'look-back'), v_now)
        from item where kind = 'task' and id = i.id and ended_at is null;
    elsif i.state = 'delayed' then
      update item set state = 'ready', wake_at = i.deadline_at, stocked_by = pg_current_xact_id(), version = nextval('item_version'),
             event_seq = event_seq + 1, last_event = 'available', last_actor = 'system', last_data = null, updated_at = v_now
       where kind = 'task' and id = i.id;
    else
      -- what it was to wake for has been completed meanwhile
      update item set wake_at = least(case when room > 0 then deadline_at end, (
               select min(expires_at) from lease where kind = 'task' and item_id = i.id and ended_at is null))
       where kind = 'task' and id = i.id and ended_at is null;
    end if;
    return query select * from item where kind = 'task' and id = i.id;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.advance(p_kinds text[], p_ids text[])
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
begin
  return query select * from advance_items(p_kinds, p_ids);
  if 'case' = any (p_kinds) then return query select * from advance_cases(ids_of('case', p_kinds, p_ids)); end if;
  if 'task' = any (p_kinds) then return query select * from advance_tasks(ids_of('task', p_kinds, p_ids)); end if;
  if 'rotation' = any (p_kinds) then return query select * from advance_rotations(ids_of('rotation', p_kinds, p_ids)); end if;
end $function$;

CREATE OR REPLACE FUNCTION public.announce_review(p_review review, p_seq integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if p_review.callback is null then return; end if;
  insert into delivery (kind, item_id, n, type, version, url, state)
  values ('review', p_review.id, p_seq, 'review.changed', p_review.version, p_review.callback ->> 'url', 'pending');
end $function$;

CREATE OR REPLACE FUNCTION public.any_juror(c court, f case_file, p_skipped text[], p_from double precision)
 RETURNS text
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_sort TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
AS $function$
declare
  v_id text;
begin
  for n in 1 .. 2 loop
    select j.id into v_id from (
      select id, person, dice from juror
       where court = c.name and list = c.list and eligible and invite
         and dice >= case n when 1 then p_from else 0 end and dice < case n when 1 then 1 else p_from end
       order by dice limit 1000) j
     where not exists (select from lease l where l.kind = 'case' and l.queue = c.name and l.slot = j.person and l.ended_at is null)
       and invitable(c, f, p_skipped, j.id, j.person)
     order by j.dice limit 1;
    exit when v_id is not null;
  end loop;
  return v_id;
end $function$;

CREATE OR REPLACE FUNCTION public.api_name(p_column text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select lower(left(s.words, 1)) || substr(s.words, 2) from (select replace(initcap(replace(p_column, '_', ' ')), ' ', '') as words) s
$function$;

CREATE OR REPLACE FUNCTION public.apply_review(p_id text, p_limit integer)
 RETURNS TABLE(resolved integer, more boolean, version bigint, telling integer)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  v_review review;
  v_entry review_callback;
  v_target review_index;
  v_resolved integer := 0;
  v_logged integer;
begin
  select * into v_review from review where id = p_id for no key update;
  if not found then return; end if;
  -- it may have megabytes, and would be copied with the row
  v_review.body := null;
  v_logged := v_review.log_seq;
  for v_entry in
    select * from review_callback where review_id = p_id and outcome = 'pending' order by arrival limit p_limit
  loop
    select * into v_target from review_index
     where review_id = p_id and kind = v_entry.kind and target_id = v_entry.target_id;
    v_resolved := v_resolved + 1;
    v_review.log_seq := v_review.log_seq + 1;
    v_entry.reason := case when v_entry.repeated then 'repeated' when v_target.removed_at is not null then 'removed'
                           when (v_entry.audit_time, v_entry.arrival) < (v_target.audit_time, v_target.arrival) then 'older' end;
    v_entry.outcome := case v_entry.reason when 'repeated' then 'duplicate' when 'removed' then 'expired'
                                           when 'older' then 'expired' else 'applied' end;
    v_entry.applied_at := clock_timestamp();
    if v_entry.outcome = 'applied' then
      v_review.version := nextval('item_version');
      v_review.updated_at := v_entry.applied_at;
      v_review.record := put_status(v_review.record, v_target, v_entry.status, v_entry.audit_time);
      update review_index set status = v_entry.status, audit_time = v_entry.audit_time, arrival = v_entry.arrival
       where review_id = p_id and kind = v_entry.kind and target_id = v_entry.target_id;
      perform announce_review(v_review, v_review.log_seq);
    end if;
    update review_callback
       set outcome = v_entry.outcome, reason = v_entry.reason, seq = v_review.log_seq, applied_at = v_entry.applied_at,
           before = to_jsonb(v_target.status), before_time = v_target.audit_time,
           after = to_jsonb(case when v_entry.outcome = 'applied' then v_entry.status else v_target.status end),
           version = case when v_entry.outcome = 'applied' then v_review.version end
     where review_callback.arrival = v_entry.arrival;
  end loop;
  if v_resolved > 0 then
    perform keep_review(v_review);
    perform log_review(p_id, v_logged);
  end if;
  return query select v_resolved, v_resolved = p_limit, v_review.version, next_change(p_id);
end $function$;

CREATE OR REPLACE FUNCTION public.apply_verdict(p_id text, p_verdict jsonb, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if p_verdict ->> 'winner' is not null then
    perform end_case(p_id, 'settled', 'decided', p_verdict ->> 'winner', 'court', null, p_now);
  elsif (p_verdict ->> 'hung')::boolean then
    perform end_case(p_id, 'expired', 'hung', null, 'court', 'nobody can win any more', p_now);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.cancel_occurrence(p_id text, p_reason text, p_actor text)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  v_now timestamptz;
begin
  perform 1 from item where kind = 'task' and id = p_id and ended_at is null for update;
  if not found then return; end if;
  v_now := clock_timestamp();
  perform return_dispatches(p_id, 'revoked', false, p_actor, v_now);
  update item set closing = true where kind = 'task' and id = p_id;
  perform keep_occurrence(p_id, 'cancelled', p_actor, json_build_object('reason', p_reason), v_now)
    from item where kind = 'task' and id = p_id and ended_at is null;
  return query select * from item where kind = 'task' and id = p_id;
end $function$;

CREATE OR REPLACE FUNCTION public.case_bar(f case_file, j juror_seen)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if f.party_ids && j.ids or j.person = any (f.party_persons) then return 'conflict_of_interest'; end if;
  if exists (select from vote where case_id = f.id and (person = j.person or juror = any (j.ids))) then return 'already_voted'; end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.case_deadline(i item, f case_file)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select case when i.own_deadline or f.extended or f.gold is not null then i.deadline_at
              else i.created_at + make_interval(secs => q.deadline_seconds) end
    from queue q where q.kind = 'case' and q.name = f.court
$function$;

CREATE OR REPLACE FUNCTION public.case_invites(f case_file, c court)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select f.gold is null and c.mode <> 'claim' and case_room(f, c) > 0 and f.holds < c.assign_jurors
$function$;

CREATE OR REPLACE FUNCTION public.case_rank(c court, p_priority bigint, p_since timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
begin
  return case when c.around then (random() * 4503599627370496)::bigint else item_rank('case', p_priority, p_since, null, false) end;
end $function$;

CREATE OR REPLACE FUNCTION public.case_reasons(p_court text, p_juror text)
 RETURNS TABLE(no_votes_left integer, voted integer, party integer, skipped integer, open integer)
 LANGUAGE plpgsql
 STABLE
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  c court;
  j juror_seen;
begin
  select * into c from court where name = p_court;
  j := juror_seen(c, p_juror, p_juror);
  return query
  with waiting as materialized (
    select i.room, j.person = any (i.skipped) as skipped,
           f.party_ids && j.ids or j.person = any (f.party_persons) as party,
           exists (select from vote v where v.case_id = i.id and (v.person = j.person or v.juror = any (j.ids))) as voted
      from item i join case_file f on f.id = i.id
     where i.kind = 'case' and i.queue = p_court and i.state = 'ready' and f.gold is null limit 1000)
  select count(*) filter (where w.room <= 0)::integer, count(*) filter (where w.voted)::integer,
         count(*) filter (where w.party)::integer, count(*) filter (where w.skipped and not w.voted)::integer, count(*)::integer
    from waiting w;
end $function$;

CREATE OR REPLACE FUNCTION public.case_room(f case_file, c court)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when f.gold is null then f.votes_left + c.overbook - f.holds else 1 end
$function$;

CREATE OR REPLACE FUNCTION public.cases_for(c court, j juror_seen)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
begin
  return array(
    select i.id from item i join case_file f on f.id = i.id
     where i.kind = 'case' and i.queue = c.name and i.inviting and not j.person = any (i.skipped)
       and not f.party_ids && j.ids and not j.person = any (f.party_persons)
       and not exists (select from lease l where l.kind = 'case' and l.item_id = i.id and l.slot = j.person)
       and not exists (select from vote v where v.case_id = i.id and (v.person = j.person or v.juror = any (j.ids)))
     order by i.rank, i.seq limit 8);
end $function$;

CREATE OR REPLACE FUNCTION public.cast_vote(p_id text, p_token text, p_option text, p_comment text, p_subject text, p_votes integer, p_settings bigint, p_verdict jsonb)
 RETURNS TABLE(outcome text, counted boolean)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  i item;
  f case_file;
  c court;
  l lease;
  j juror_seen;
  v_vote vote;
  v_now timestamptz;
  v_bar text;
begin
  select * into i from item where kind = 'case' and id = p_id for update;
  if not found then return query select 'not_found', false; return; end if;
  v_now := clock_timestamp();
  select * into f from case_file where id = p_id;
  select * into c from court where name = f.court;
  select * into l from lease where token = p_token and kind = 'case' and item_id = p_id;
  if l.token is not null and not speaks_for(c, p_subject, l) then return query select 'foreign', false; return; end if;
  select * into v_vote from vote where token = p_token and case_id = p_id;
  if found and (v_vote.option, v_vote.comment) is not distinct from (p_option, p_comment) then
    return query select 'repeated', v_vote.counted; return;
  end if;
  if i.ended_at is null and (i.deadline_at <= v_now or l.ended_at is null and l.expires_at <= v_now) then
    -- no clock has come by yet: done now, so that the answer can say so
    perform advance_cases(array[p_id]);
    select * into i from item where kind = 'case' and id = p_id;
    select * into l from lease where token = p_token;
  end if;
  if i.ended_at is not null then
    return query select case when late_vote(i, f, c, l, p_option, p_comment, v_now) then 'late' else 'not_open' end, false;
    return;
  end if;
  if l.token is null or v_vote.token is not null then return query select 'lease_lost', false; return; end if;

  j := juror_seen(c, l.holder, l.slot);
  v_bar := vote_bar(f, j);
  if v_bar is not null then
    perform revoke_hold(l, v_bar, 'vote', v_now);
    return query select v_bar, false; return;
  end if;
  if l.ended_at is not null then return query select 'lease_lost', false; return; end if;
  if f.gold is null and (f.votes <> p_votes or p_settings <> hold_settings(f.court)) then
    return query select 'again', false; return;
  end if;

  insert into vote (token, case_id, court, juror, person, option, comment, at, counted, gold)
  values (p_token, p_id, f.court, l.holder, j.person, p_option, p_comment, v_now, true, f.gold is not null);
  update lease set ended_at = greatest(v_now, granted_at), why = 'settled', ended_by = l.holder where token = p_token;
  insert into juror_day as d (court, person, day, votes) values (f.court, j.person, (v_now at time zone 'UTC')::date, 1)
  on conflict (court, person, day) do update set votes = d.votes + 1;
  if f.gold is null then
    update case_file set tally = tally || jsonb_build_object(p_option, coalesce((tally ->> p_option)::integer, 0) + 1), votes = votes + 1,
           votes_left = (p_verdict ->> 'votesLeft')::integer, stage = (p_verdict ->> 'stage')::integer
     where id = p_id;
    update item set priority = (p_verdict ->> 'priority')::bigint where kind = 'case' and id = p_id and priority <> (p_verdict ->> 'priority')::bigint;
    insert into tally (kind, queue, what, n) values ('case', f.court, 'votes', 1);
  else
    insert into juror_record as r (court, person, judged, agreed) values (f.court, j.person, 1, (p_option = f.gold)::integer)
    on conflict (court, person) do update set judged = r.judged + 1, agreed = r.agreed + excluded.agreed;
  end if;
  perform keep_case(p_id, 'voted', l.holder, json_build_object('option', p_option), v_now,
    f.gold is not null or p_verdict ->> 'winner' is null and not (p_verdict ->> 'hung')::boolean,
    -- not of gold, which everybody may judge: its row would grow with each of them
    case when f.gold is null then j.person end);
  if f.gold is null then perform apply_verdict(p_id, p_verdict, v_now); end if;
  return query select 'counted', true;
end $function$;

CREATE OR REPLACE FUNCTION public.change_task(p_id text, p_task json, p_seen integer, p_limit integer, p_actor text)
 RETURNS TABLE(outcome text, item item)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  o task;
  t task := json_populate_record(null::task, p_task);
  v_now timestamptz;
  v_id text;
  v_changed json;
begin
  if t.type = 'rotate' then perform lock_rotations(t.queue); end if;
  -- before the task, as the clocks do
  perform 1 from item where kind = 'rotation' and id = p_id for update;
  select * into o from task where id = p_id for update;
  if not found then return query select 'not_found', null::item; return; end if;
  if o.state = 'deleted' then return query select 'deleted', null::item; return; end if;
  if o.revision <> p_seen then return query select 'again', null::item; return; end if;
  if t.type = 'rotate' and t.queue <> o.queue and too_many_rotations(t.queue, p_id, p_limit) then
    return query select 'limit', null::item; return;
  end if;
  perform 1 from task_template where id = t.template_id for key share;
  if not found then return query select 'no_template', null::item; return; end if;
  v_now := clock_timestamp();
  if too_many_due(t, o, v_now) then return query select 'too_many', null::item; return; end if;
  update task
     set executor = t.executor, queue = t.queue, start_time = t.start_time, every_minutes = t.every_minutes, daily_time = t.daily_time,
         every_days = t.every_days, timezone = t.timezone, template_id = t.template_id, params = t.params,
         dispatch_times = t.dispatch_times, dispatch = t.dispatch, catch_up = t.catch_up, lookback_seconds = t.lookback_seconds,
         answer_seconds = t.answer_seconds, end_time = t.end_time, callback = t.callback, made_until = '-infinity', revision = o.revision + 1, updated_at = v_now
   where id = p_id returning * into t;
  select json_object_agg(api_name(n.key), case when n.key like '%\_time' and n.key <> 'daily_time'
                                             then to_jsonb(iso_time((n.value #>> '{}')::timestamptz)) else n.value end) into v_changed
    from jsonb_each(to_jsonb(t) - '{queue,made_until,revision,updated_at,callback}'::text[]) n
   where n.value is distinct from to_jsonb(o) -> n.key;

  return query select 'changed', v from void_occurrences(t, array(
      select i.id from item i
       where i.kind = 'task' and i.id > p_id || '/' and i.id < p_id || '0' and i.ended_at is null
         and exists (select from task_times(t, i.available_at - interval '1 microsecond', i.available_at, 1))),
    null, 'rescheduled', p_actor, v_now) v;
  -- from the table itself: what a function returns cannot be locked
  for v_id in
    select i.id from item i
     where i.kind = 'task' and i.id > p_id || '/' and i.id < p_id || '0' and i.ended_at is null and not i.closing
     order by i.id for update
  loop
    update item set deadline_at = occurrence_deadline(t, available_at) where kind = 'task' and id = v_id;
    perform keep_occurrence(v_id, 'changed', p_actor, json_build_object('changed', v_changed), v_now);
    insert into taken_task select distinct l.slot, l.item_id from lease l join item i on i.kind = 'task' and i.id = l.item_id
     where l.kind = 'task' and l.item_id = v_id and t.dispatch = 'blocking' and i.ended_at is null
        on conflict do nothing;
    return query select 'changed', i from item i where i.kind = 'task' and i.id = v_id;
  end loop;
  update item i
     set queue = t.queue, state = 'delayed', ended_at = null, ended_by = null, wake_at = v_now, version = nextval('item_version'),
         event_seq = event_seq + 1, last_event = 'changed', last_actor = p_actor,
         last_data = json_build_object('changed', v_changed), updated_at = v_now
   where i.kind = 'rotation' and i.id = p_id;
  return query select 'changed', m from plan_task(p_id, v_now) m;
  return query select 'changed', null::item;
end $function$;

CREATE OR REPLACE FUNCTION public.claim_case(p_court text, p_juror text, p_token text)
 RETURNS TABLE(outcome text, id text, token text, expires_at timestamp with time zone, changed text[])
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
#variable_conflict use_column
declare
  c court;
  j juror_seen;
  l lease;
  v_now timestamptz;
  v_shown text[];
  v_free integer;
  v_until timestamptz;
  v_id text;
  v_changed text[];
begin
  select * into c from court where name = p_court;
  perform pg_advisory_xact_lock(person_key('case', p_court, person)) from juror_seen(c, p_juror, p_juror);
  j := juror_seen(c, p_juror, p_juror);
  v_changed := end_lost_holds(c, j);
  v_now := clock_timestamp();
  -- also what an account held on its own, before the list found it to be this person's
  select * into l from lease where kind = 'case' and queue = p_court and slot = any (j.ids || j.person) and ended_at is null
   order by expires_at desc limit 1;
  if found then
    return query select 'resumed', l.item_id, l.token, l.expires_at, v_changed; return;
  end if;
  outcome := case when not (j.admitted or j.newcomer) then 'notEligible' when is_tired(c, j.person, 0, v_now) then 'fatigue' end;
  if outcome is not null then return query select outcome, id, token, expires_at, v_changed; return; end if;

  select coalesce(array_agg(case_id), '{}') into v_shown from exposure
   where court = p_court and person = j.person and shown_at > v_now - make_interval(secs => c.window_seconds);
  v_free := c.window_cases - cardinality(v_shown);
  if c.mode <> 'assign' then v_id := pick_case(c, j, v_shown, v_free, v_now); end if;
  if v_id is null and v_free <= 0 then insert into tally (kind, queue, what, n) values ('case', p_court, 'window_hits', 1); end if;
  outcome := case when v_id = '' then 'busy' when v_id is not null then 'held' when v_free <= 0 then 'windowFull'
                  when not j.admitted then 'notEligible' else 'none' end;
  if outcome <> 'held' then return query select outcome, id, token, expires_at, v_changed; return; end if;

  v_now := clock_timestamp();
  select v_now + make_interval(secs => q.lease_seconds) into v_until from queue q where q.kind = 'case' and q.name = p_court;
  perform hold_case(c, v_id, p_token, p_juror, j.person, v_until, false, v_now);
  return query select 'held', v_id, p_token, v_until, v_changed;
end $function$;

CREATE OR REPLACE FUNCTION public.claim_items(p_kind text, p_queue text, p_persons text[], p_tokens text[], p_count integer, p_skills text[], p_resume boolean, p_follows text)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  q queue;
  v_now timestamptz;
  v_persons text[];
  v_tokens text[];
  v_ids text[];
  v_given integer;
  v_alone text[];
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key(p_kind, p_queue, person) as key from unnest(p_persons) as person order by 1) s;
  v_now := clock_timestamp();

  if p_resume then
    return query select * from item
      where kind = p_kind and queue = p_queue and state = 'held'
        and holder = any (p_persons) and expires_at > v_now
      order by granted_at, seq;
  end if;

  select * into q from queue where kind = p_kind and name = p_queue;
  if q.paused or q.name is null then return; end if;

  -- one slot for each new item somebody may get
  select array_agg(p.person order by p.no, g), array_agg(p_tokens[(p.no - 1) * p_count + g] order by p.no, g)
    into v_persons, v_tokens
    from unnest(p_persons) with ordinality as p (person, no)
   cross join lateral (
     select count(*)::integer as n from item
      where kind = p_kind and queue = p_queue and state = 'held'
        and holder = p.person and expires_at > v_now) held
   cross join lateral generate_series(
     1, least(p_count - case when p_resume then held.n else 0 end, q.max_held - held.n)) as g;
  if v_persons is null then return; end if;

  v_ids := case when p_skills = '{}'
    then pick_plain(p_kind, p_queue, p_persons, cardinality(v_persons), v_now)
    else pick_skilled(p_kind, p_queue, p_persons[1], p_skills, cardinality(v_persons), v_now) end;

  -- a lease begins when its row is locked: the one before has ended by then, also in the log
  v_now := clock_timestamp();
  return query select * from grant_items(q, v_ids, v_persons, v_tokens, p_follows, v_now);
  get diagnostics v_given = row_count;
  if v_given = coalesce(cardinality(v_ids), 0) then return; end if;
  -- somebody was excluded from the item chosen for him: choose again, one by one, for all who have none
  for n in 1 .. cardinality(v_persons) loop
    continue when exists (select 1 from item where kind = p_kind and id = v_ids[n] and lease_id = v_tokens[n]);
    v_alone := pick_plain(p_kind, p_queue, v_persons[n:n], 1, v_now);
    v_now := clock_timestamp();
    return query select * from grant_items(q, v_alone, v_persons[n:n], v_tokens[n:n], p_follows, v_now);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.claim_next(p_kind text, p_queue text, p_person text, p_token text, p_skills text[], p_follows text)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock(person_key(p_kind, p_queue, p_person));
  return query select i.* from lease l join item i on i.kind = l.kind and i.id = l.item_id
                where l.follows = p_follows;
  if found then return; end if;
  perform 1 from lease l join item i on i.kind = l.kind and i.id = l.item_id
    where l.token = p_follows and i.settled_token = p_follows and i.next_wanted;
  if not found then return; end if;
  return query select * from claim_items(p_kind, p_queue, array[p_person], array[p_token], 1, p_skills, false, p_follows);
  if found then return; end if;
  update item i set next_wanted = false from lease l
   where l.token = p_follows and i.kind = l.kind and i.id = l.item_id and i.settled_token = p_follows;
end $function$;

CREATE OR REPLACE FUNCTION public.claim_reasons(p_kind text, p_queue text, p_person text, p_skills text[])
 RETURNS TABLE(delayed integer, held integer, excluded integer, skills integer, skipped integer, paused integer, max_held integer, retry_after double precision)
 LANGUAGE sql
 STABLE
AS $function$
  with q as (select * from queue where kind = p_kind and name = p_queue),
  mine as (
    select count(*)::integer as n from item
     where kind = p_kind and queue = p_queue and state = 'held'
       and holder = p_person and expires_at > clock_timestamp()),
  waiting as materialized (
    select exclude, skipped, requires from item
     where kind = p_kind and queue = p_queue and state = 'ready' limit 1000)
  select
    (select count(*) from (select 1 from item where kind = p_kind and queue = p_queue and state = 'delayed' limit 1000) s)::integer,
    (select count(*) from (select 1 from item where kind = p_kind and queue = p_queue and state = 'held'
                              and holder <> p_person limit 1000) s)::integer,
    (select count(*) from waiting where p_person = any (exclude))::integer,
    (select count(*) from waiting where not requires <@ p_skills)::integer,
    (select count(*) from waiting where p_person = any (waiting.skipped))::integer,
    (select case when q.paused then (select count(*) from waiting) else 0 end from q)::integer,
    (select case when mine.n >= q.max_held then mine.n else 0 end from q, mine)::integer,
    extract(epoch from least(
      (select min(available_at) from item where kind = p_kind and queue = p_queue and state = 'delayed'),
      (select min(expires_at) from item where kind = p_kind and queue = p_queue and state = 'held')
    ) - clock_timestamp())::double precision
$function$;

CREATE OR REPLACE FUNCTION public.close_cases(p_ids text[], p_reason text, p_actor text)
 RETURNS SETOF text
 LANGUAGE plpgsql
AS $function$
declare
  v_id text;
begin
  for v_id in select id from item where kind = 'case' and id = any (p_ids) and ended_at is null order by id for update loop
    perform end_case(v_id, 'invalidated', 'invalidated', null, p_actor, p_reason, clock_timestamp());
    return next v_id;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.complete_task(l lease, p_result json, p_hash text, p_now timestamp with time zone)
 RETURNS item
 LANGUAGE plpgsql
AS $function$
declare
  v_item item;
  v_data json := json_build_object('logId', l.token, 'person', l.slot, 'uid', l.holder, 'params', l.given, 'result', p_result);
begin
  update lease set ended_at = greatest(p_now, granted_at), why = 'settled', ended_by = l.holder, result_hash = decode(p_hash, 'hex')
   where token = l.token;
  select * into v_item from item where kind = 'task' and id = l.item_id;
  if v_item.room > 0 then
    update item set version = nextval('item_version'), event_seq = event_seq + 1, last_event = 'completed', last_actor = l.holder,
           last_data = v_data, updated_at = p_now
     where kind = 'task' and id = l.item_id returning * into v_item;
  else
    perform keep_occurrence(l.item_id, 'completed', l.holder, v_data, p_now);
    select * into v_item from item where kind = 'task' and id = l.item_id;
  end if;
  return v_item;
end $function$;

CREATE OR REPLACE FUNCTION public.complete_tasks(p_sent json)
 RETURNS TABLE(token text, outcome text, completed_at timestamp with time zone, current text, item item)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
#variable_conflict use_column
declare
  x record;
  l lease;
  v_item item;
  v_now timestamptz;
begin
  perform 1 from item i where i.kind = 'task' and i.id in (
    select o.item_id from json_to_recordset(p_sent) as s (person text, token text)
      join lease o on o.token = s.token and o.kind = 'task' and o.slot = s.person) order by i.id for update;
  for x in select * from json_to_recordset(p_sent) as s (person text, token text, result json, hash text) loop
    v_now := clock_timestamp();
    select * into l from lease o where o.token = x.token and o.kind = 'task' and o.slot = x.person;
    if found and l.ended_at is null and l.expires_at <= v_now then
      -- run out, and no clock has come by yet
      return query select null::text, 'advanced', null::timestamptz, null::text, a from advance_tasks(array[l.item_id]) a;
      select * into l from lease o where o.token = x.token;
    end if;
    if l.token is not null and l.ended_at is null then
      v_item := complete_task(l, x.result, x.hash, v_now);
      return query select x.token, 'completed', greatest(v_now, l.granted_at), null::text, v_item;
    elsif l.why = 'settled' and not exists (
      select from event e where e.kind = 'task' and e.type = 'dispatched' and e.data ->> 'person' = x.person and e.at > l.granted_at) then
      return query select x.token, case when l.result_hash = decode(x.hash, 'hex') then 'repeated' else 'settled' end,
                          l.ended_at, null::text, null::item;
    else
      return query select x.token, 'stale', l.ended_at,
        (select o.token from lease o where o.kind = 'task' and o.slot = x.person and o.ended_at is null), null::item;
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.delete_queue(p_kind text, p_name text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  q queue;
begin
  select * into q from queue where kind = p_kind and name = p_name for update;
  if not found or not is_there(q) then return 'not_found'; end if;
  if exists (select from item i where i.queue = p_name and i.kind = p_kind)
     or p_kind = 'job' and exists (select from schedule s where s.topic = p_name) then return 'used'; end if;
  -- made anew, so that no setting is left of it
  delete from queue where kind = p_kind and name = p_name;
  insert into queue (kind, name, deleted_at) values (p_kind, p_name, clock_timestamp());
  return 'deleted';
end $function$;

CREATE OR REPLACE FUNCTION public.delete_task(p_id text, p_reason text, p_actor text)
 RETURNS TABLE(outcome text, item item)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  t task;
  v_now timestamptz;
begin
  perform 1 from item where kind = 'rotation' and id = p_id for update;
  select * into t from task where id = p_id for update;
  if not found then return query select 'not_found', null::item; return; end if;
  if t.state = 'deleted' then return query select 'repeated', null::item; return; end if;
  v_now := clock_timestamp();
  update task set state = 'deleted', updated_at = v_now where id = p_id returning * into t;
  return query
    update item i
       set state = 'invalidated', ended_at = v_now, ended_by = p_actor, end_reason = p_reason, wake_at = null,
           version = nextval('item_version'), event_seq = event_seq + 1, last_event = 'deleted', last_actor = p_actor,
           last_data = json_build_object('reason', p_reason), updated_at = v_now
     where i.kind = 'rotation' and i.id = p_id and i.ended_at is null returning 'deleted', i;
  return query select 'deleted', v from void_occurrences(t, '{}', null, coalesce(p_reason, 'deleted'), p_actor, v_now) v;
  return query select 'deleted', null::item;
end $function$;

CREATE OR REPLACE FUNCTION public.delete_template(p_id text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  perform 1 from task_template where id = p_id for update;
  if not found then return 'not_found'; end if;
  if exists (select from task where template_id = p_id and state = 'active') then return 'used'; end if;
  delete from task_template where id = p_id;
  return 'deleted';
end $function$;

CREATE OR REPLACE FUNCTION public.dispatch_task(i item, p_person text, p_uid text, p_token text, p_seen xid8)
 RETURNS TABLE(person text, outcome text, log_id text, given json, item item)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_until timestamptz;
  v_blocking boolean;
begin
  select v_now + make_interval(secs => t.answer_seconds), t.dispatch = 'blocking' into v_until, v_blocking
    from task t where t.id = task_of(i.id);
  insert into lease (token, kind, item_id, queue, holder, slot, granted_at, expires_at, given, seen)
  values (p_token, 'task', i.id, i.queue, p_uid, p_person, v_now, v_until, i.body, p_seen);
  if v_blocking then insert into taken_task values (p_person, i.id) on conflict do nothing; end if;
  return query with handed as (
    update item o
       set room = o.room - 1, attempts = o.attempts + 1, wake_at = least(o.wake_at, v_until),
           version = nextval('item_version'), event_seq = o.event_seq + 1, last_event = 'dispatched', last_actor = p_uid,
           last_data = json_build_object('logId', p_token, 'person', p_person, 'uid', p_uid, 'params', o.body), updated_at = v_now
     where o.kind = 'task' and o.id = i.id returning o.*)
  select p_person, 'dispatched', p_token, h.body, h::item from handed h;
end $function$;

CREATE OR REPLACE FUNCTION public.end_case(p_id text, p_state text, p_type text, p_winner text, p_actor text, p_reason text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  f case_file;
begin
  with ended as (
    update lease set ended_at = greatest(p_now, granted_at), ended_by = p_actor,
                     why = case when expires_at <= p_now then 'expired' else 'closed' end
     where kind = 'case' and item_id = p_id and ended_at is null returning queue, holder)
  insert into notice (kind, item_id, queue, person, type, data)
  select 'case', p_id, queue, holder, 'lease_lost', json_build_object('reason', p_type, 'by', p_actor) from ended;

  update case_file set holds = 0, winner = p_winner, votes_left = case when p_winner is null then votes_left else 0 end
   where id = p_id returning * into f;
  update item i
     set state = p_state, ended_at = p_now, ended_by = p_actor, end_reason = p_reason,
         result = case when p_state = 'settled' then json_build_object('winner', p_winner, 'tally', f.tally) end,
         room = null, inviting = false, wake_at = null,
         telling = f.gold is null and (coalesce(i.callback, q.callback) is not null
                   or p_type = 'hung' and coalesce(c.fallback ?| array['court', 'queue'], false)),
         version = nextval('item_version'), event_seq = i.event_seq + 1, last_event = p_type, last_actor = p_actor,
         last_data = json_strip_nulls(json_build_object('winner', p_winner, 'tally', f.tally, 'reason', p_reason)), updated_at = p_now
    from queue q join court c on c.name = q.name
   where i.kind = 'case' and i.id = p_id and q.kind = 'case' and q.name = i.queue;
  if f.gold is not null or p_state = 'invalidated' then return; end if;

  -- the court's statistics: how the votes fell, how long it took, who agreed with it
  insert into tally (kind, queue, what, n)
  select 'case', f.court, s.what, s.n from item i cross join lateral (values
      ('votes ' || f.tally::text, 1),
      ('decide_ms', case when p_winner is null then 0 else extract(epoch from p_now - i.created_at) * 1000 end)) as s (what, n)
   where i.kind = 'case' and i.id = p_id and s.n <> 0;
  if p_winner is null then return; end if;
  insert into juror_record as r (court, person, judged, agreed)
  select f.court, person, 1, (option = p_winner)::integer from vote where case_id = p_id and counted order by person
  on conflict (court, person) do update set judged = r.judged + 1, agreed = r.agreed + excluded.agreed;
  -- some of them may have reached the threshold of the court by this
  if (select bar_agreement from court where name = f.court) is not null then
    perform free_jurors(f.court, array(select person from vote where case_id = p_id and counted));
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.end_lost_holds(c court, j juror_seen)
 RETURNS text[]
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  l lease;
  f case_file;
  v_bar text;
  v_now timestamptz;
  v_ended text[] := '{}';
begin
  for l in select * from lease where kind = 'case' and queue = c.name and slot = any (j.ids || j.person) and ended_at is null
            order by item_id loop
    select * into f from case_file where id = l.item_id;
    v_bar := case when l.expires_at <= clock_timestamp() then 'expired' else vote_bar(f, j) end;
    continue when v_bar is null;
    perform from item where kind = 'case' and id = l.item_id for update;
    v_ended := v_ended || l.item_id;
    if v_bar = 'expired' then
      perform advance_cases(array[l.item_id]);
      continue;
    end if;
    v_now := clock_timestamp();
    perform revoke_hold(l, v_bar, 'claim', v_now);
  end loop;
  return v_ended;
end $function$;

CREATE OR REPLACE FUNCTION public.executors_of(p_person text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE ROWS 5
AS $function$
  select 'uid_' || p_person union all select 'gid_' || group_id from member where person = p_person
$function$;

CREATE OR REPLACE FUNCTION public.first_task(p_person text, p_exclude text[], p_now timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
AS $function$
declare
  v_id text;
  v_rank bigint;
  v_seen xid8;
begin
  select i.id into v_id from taken_task g
    join item i on i.kind = 'task' and i.id = g.item_id and i.state = 'ready' and i.room > 0 and i.deadline_at > p_now
    join task t on t.id = task_of(i.id) and t.dispatch = 'blocking'
   where g.person = p_person and i.queue in (select executors_of(p_person)) and not is_excluded(i.id, p_exclude)
   order by i.rank, i.seq limit 1;
  if found then return v_id; end if;

  select b.since_rank, b.seen into v_rank, v_seen from look_back(p_person) b;
  v_rank := coalesce(v_rank, -9223372036854775808);
  select c.id into v_id from executors_of(p_person) as e (queue)
   cross join lateral (
     (select i.id, i.rank, i.seq from item i
       where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.room > 0 and i.rank >= v_rank
         and i.deadline_at > p_now and not is_excluded(i.id, p_exclude) and not had_task(i, p_person)
       order by i.rank, i.seq limit 1)
     union all
     -- what has come since; read by that, and not by rank, past all that the client has passed by
     (select (s.i).id, (s.i).rank, (s.i).seq from (
        select i from item i
         where i.kind = 'task' and i.queue = e.queue and i.state = 'ready' and i.room > 0 and i.stocked_by >= v_seen offset 0) s
       where (s.i).rank < v_rank and (s.i).deadline_at > p_now
         and not is_excluded((s.i).id, p_exclude) and not had_task(s.i, p_person)
       order by 2, 3 limit 1)) c
   order by c.rank, c.seq limit 1;
  return v_id;
end $function$;

CREATE OR REPLACE FUNCTION public.fits_review(p_callback jsonb, p_result json)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when p_callback is null or not p_callback ? 'review' then true
              when json_typeof(p_result -> 'status') <> 'number' then false
              else coalesce(abs((p_result ->> 'status')::numeric) <= 2147483647
                            and (p_result ->> 'status')::numeric = trunc((p_result ->> 'status')::numeric), false) end
$function$;

CREATE OR REPLACE FUNCTION public.forget_items(p_kind text, p_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  v_events bigint[];
begin
  if p_ids is null then return; end if;
  -- the sequencer's (db/functions/feed.sql): it must not give a position to what is being cleared
  perform pg_advisory_xact_lock(7236003);
  insert into tally (kind, queue, what, n)
  select kind, queue, state, -count(*) from item where kind = p_kind and id = any (p_ids) group by kind, queue, state;
  with gone as (delete from event where kind = p_kind and item_id = any (p_ids) returning id)
  select array_agg(id) into v_events from gone;
  delete from feed where event_id = any (v_events);
  delete from lease where kind = p_kind and item_id = any (p_ids);
  delete from delivery where kind = p_kind and item_id = any (p_ids);
  delete from item where kind = p_kind and id = any (p_ids);
end $function$;

CREATE OR REPLACE FUNCTION public.forget_tasks(p_before timestamp with time zone, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  v_ids text[];
begin
  -- an occurrence's id ends with its time, so a task's oldest are the first of its range
  select array_agg(s.id) into v_ids from (
    select i.id from task t cross join lateral (
      select o.id from item o
       where o.kind = 'task' and o.id > t.id || '/' and o.id < t.id || '/' || iso_time(p_before)
         and o.ended_at < p_before and not o.telling
       order by o.id limit p_limit) i
     where t.start_time < p_before limit p_limit) s;
  perform forget_items('task', v_ids);

  -- tasks of which nothing is left and nothing comes
  select array_agg(t.id) into v_ids from task t
   where t.start_time < p_before and t.updated_at < p_before
     and (t.type = 'once' or not exists (select from item r where r.kind = 'rotation' and r.id = t.id and (r.ended_at is null or r.ended_at >= p_before)))
     and not exists (select from item o where o.kind = 'task' and o.id > t.id || '/' and o.id < t.id || '0');
  perform forget_items('rotation', v_ids);
  delete from task where id = any (v_ids);
  return coalesce(cardinality(v_ids), 0);
end $function$;

CREATE OR REPLACE FUNCTION public.free_jurors(p_court text, p_persons text[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  if not exists (select from court where name = p_court and mode <> 'claim') then return; end if;
  if not exists (select from item where kind = 'case' and queue = p_court and inviting) then return; end if;
  insert into freed_juror (court, person) select p_court, person from unnest(coalesce(p_persons, array[null])) as person;
end $function$;

CREATE OR REPLACE FUNCTION public.free_number(p_kind text, p_queue text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  v_number bigint;
begin
  loop
    v_number := nextval('item_seq_seq');
    if not exists (select from item where kind = p_kind and id = p_queue || ':' || v_number) then return v_number; end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.grant_items(q queue, p_ids text[], p_persons text[], p_tokens text[], p_follows text, p_now timestamp with time zone)
 RETURNS SETOF item
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query update item i
     set state = 'held', lease_id = s.token, holder = s.person, granted_at = p_now,
         expires_at = p_now + make_interval(secs => coalesce(i.lease_seconds, q.lease_seconds)),
         lease_follows = p_follows, lease_end = null, attempts = i.attempts + 1,
         wake_at = item_wake('held', null, p_now + make_interval(secs => coalesce(i.lease_seconds, q.lease_seconds)), i.deadline_at,
           next_escalation(q.escalations, i.first_available_at, i.escalated_seconds)),
         version = nextval('item_version'), event_seq = i.event_seq + 1,
         last_event = 'claimed', last_actor = s.person,
         last_data = json_build_object('attempt', i.attempts + 1), updated_at = p_now
    from unnest(p_ids, p_persons, p_tokens) as s (id, person, token)
   where i.kind = q.kind and i.id = s.id and i.state = 'ready'
     and not (s.person = any (i.exclude) or s.person = any (i.skipped))
  returning i.*;
end $function$;

CREATE OR REPLACE FUNCTION public.had_task(i item, p_person text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return exists (select from lease l where l.kind = 'task' and l.slot = p_person and l.item_id = i.id
                   and (l.why = 'settled' or i.queue like 'gid%'))
     and (select t.dispatch = 'each-once' from task t where t.id = task_of(i.id));
end $function$;

CREATE OR REPLACE FUNCTION public.hold_case(c court, p_id text, p_token text, p_juror text, p_person text, p_until timestamp with time zone, p_invited boolean, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into lease (token, kind, item_id, queue, holder, slot, granted_at, expires_at, invited)
  values (p_token, 'case', p_id, c.name, p_juror, p_person, p_now, p_until, p_invited);
  if c.window_cases is not null then
    insert into exposure as e (court, person, case_id, shown_at) values (c.name, p_person, p_id, p_now)
    on conflict (court, person, case_id) do update set shown_at = p_now where e.shown_at <= p_now - make_interval(secs => c.window_seconds);
  end if;
  perform keep_case(p_id, case when p_invited then 'invited' else 'claimed' end, case when p_invited then 'system' else p_juror end,
                    case when p_invited then json_build_object('juror', p_juror) end, p_now, not p_invited);
end $function$;

CREATE OR REPLACE FUNCTION public.hold_settings(p_court text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock_shared(person_key('court settings', p_court, ''));
  return (select settings_version from queue where kind = 'case' and name = p_court);
end $function$;

CREATE OR REPLACE FUNCTION public.ids_of(p_kind text, p_kinds text[], p_ids text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select array(select p.id from unnest(p_kinds, p_ids) as p (kind, id) where p.kind = p_kind)
$function$;

CREATE OR REPLACE FUNCTION public.invitable(c court, f case_file, p_skipped text[], p_juror text, p_person text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  j juror_seen;
begin
  if p_person = any (p_skipped)
     or exists (select from lease where kind = 'case' and queue = c.name and slot = p_person and ended_at is null)
     or exists (select from lease where kind = 'case' and item_id = f.id and slot = p_person)
     or is_tired(c, p_person, 0, clock_timestamp())
     or exists (select from juror_day d where d.court = c.name and d.person = p_person
                   and d.day = (clock_timestamp() at time zone 'UTC')::date and d.invited >= c.invites_per_day)
     or (select count(*) from exposure e where e.court = c.name and e.person = p_person and e.case_id <> f.id
            and e.shown_at > clock_timestamp() - make_interval(secs => c.window_seconds)) >= c.window_cases then
    return false;
  end if;
  j := juror_seen(c, p_juror, p_person);
  return may_judge(f, j) and case_bar(f, j) is null
     and not exists (select from lease where kind = 'case' and queue = c.name and slot = any (j.ids) and ended_at is null);
end $function$;

CREATE OR REPLACE FUNCTION public.invite_freed(p_seq bigint, p_token text)
 RETURNS text
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  r freed_juror;
  i item;
  f case_file;
  c court;
  j juror_seen;
  v_juror text;
  v_id text;
  v_result text;
begin
  select * into r from freed_juror where seq = p_seq for update skip locked;
  if not found then return null; end if;
  select * into c from court where name = r.court;
  select id into v_juror from juror
   where court = c.name and list = c.list and person = r.person and eligible and invite order by random() limit 1;
  if found then
    perform pg_advisory_xact_lock(person_key('case', c.name, r.person));
    j := juror_seen(c, v_juror, r.person);
    foreach v_id in array case when j.newcomer then next_gold(c, j, '{}') else cases_for(c, j) end
    loop
      select * into i from item where kind = 'case' and id = v_id for update skip locked;
      if not found then
        v_result := '';
        continue;
      end if;
      select * into f from case_file where id = v_id;
      continue when not (i.inviting or j.newcomer) or not invite_juror(c, f, i.skipped, v_juror, p_token);
      perform publish_invitations(c, v_id, array[p_token]);
      v_result := v_id;
      exit;
    end loop;
  end if;
  if v_result is distinct from '' then delete from freed_juror where seq = p_seq; end if;
  return v_result;
end $function$;

CREATE OR REPLACE FUNCTION public.invite_juror(c court, f case_file, p_skipped text[], p_juror text, p_token text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  v_person text;
  v_now timestamptz;
begin
  select person into v_person from juror where court = c.name and list = c.list and id = p_juror;
  if not pg_try_advisory_xact_lock(person_key('case', c.name, v_person)) then return false; end if;
  -- checked again under the lock
  if not invitable(c, f, p_skipped, p_juror, v_person) then return false; end if;
  v_now := clock_timestamp();
  perform hold_case(c, f.id, p_token, p_juror, v_person, v_now + make_interval(secs => c.answer_seconds), true, v_now);
  insert into juror_day as d (court, person, day, invited) values (c.name, v_person, (v_now at time zone 'UTC')::date, 1)
  on conflict (court, person, day) do update set invited = d.invited + 1;
  -- re-randomised, so that a gap in front of a juror does not bias the selection
  update juror set dice = random() where court = c.name and list = c.list and id = p_juror;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.invite_jurors(p_id text, p_tokens text[])
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  i item;
  f case_file;
  c court;
  v_missing integer;
  v_invited integer := 0;
  v_juror text;
begin
  select * into i from item where kind = 'case' and id = p_id and inviting for update;
  if not found then return 0; end if;
  select * into f from case_file where id = p_id;
  select * into c from court where name = f.court;
  v_missing := least(c.assign_jurors - f.holds, case_room(f, c), cardinality(p_tokens));
  for tries in 1 .. v_missing * 3 loop
    exit when v_invited = v_missing;
    v_juror := any_juror(c, f, i.skipped, random());
    exit when v_juror is null;
    if invite_juror(c, f, i.skipped, v_juror, p_tokens[v_invited + 1]) then v_invited := v_invited + 1; end if;
  end loop;
  if v_invited > 0 then perform publish_invitations(c, p_id, p_tokens); end if;
  -- too few proven jurors: as many newcomers are invited to gold, and may have proven themselves by the next round
  if v_invited < v_missing and not c.bar_newcomers then
    perform free_jurors(c.name, some_newcomers(c, random(), v_missing - v_invited));
  end if;
  return v_invited;
end $function$;

CREATE OR REPLACE FUNCTION public.is_excluded(p_item text, p_exclude text[])
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select p_item = any (p_exclude) or task_of(p_item) = any (p_exclude)
$function$;

CREATE OR REPLACE FUNCTION public.is_there(q queue)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select q.deleted_at is null or exists (select from item i where i.queue = q.name and i.kind = q.kind)
$function$;

CREATE OR REPLACE FUNCTION public.is_tired(c court, p_person text, p_held integer, p_now timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce((select d.votes from juror_day d where d.court = c.name and d.person = p_person
                      and d.day = (p_now at time zone 'UTC')::date), 0) + p_held >= c.votes_per_day
$function$;

CREATE OR REPLACE FUNCTION public.is_zone(p_zone text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  perform now() at time zone p_zone;
  return true;
exception when invalid_parameter_value then
  return false;
end $function$;

CREATE OR REPLACE FUNCTION public.iso_time(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN to_char((at AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text);

CREATE OR REPLACE FUNCTION public.item_rank(p_kind text, p_priority bigint, p_since timestamp with time zone, p_level_seconds double precision, p_front boolean)
 RETURNS bigint
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select case p_kind
    when 'job' then p_priority
    else (extract(epoch from p_since) * 1000000)::bigint - 1577836800000000
      - case when p_level_seconds is null then p_priority * 2251799813685248
             else (p_priority * p_level_seconds * 1000000)::bigint end
      - case when p_front then 4611686018427387904 else 0 end
  end
$function$;

CREATE OR REPLACE FUNCTION public.item_wake(p_state text, p_available_at timestamp with time zone, p_expires_at timestamp with time zone, p_deadline_at timestamp with time zone, p_next_escalation timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select least(
    case p_state when 'delayed' then p_available_at when 'held' then p_expires_at end,
    p_deadline_at, p_next_escalation)
$function$;

CREATE OR REPLACE FUNCTION public.juror_seen(c court, p_juror text, p_person text)
 RETURNS juror_seen
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  v_person text;
  v_eligible boolean;
  v_newcomer boolean := false;
  r juror_record;
begin
  select person, eligible into v_person, v_eligible from juror where court = c.name and list = c.list and id = p_juror;
  v_person := coalesce(v_person, p_person);
  if v_eligible and c.bar_agreement is not null then
    select * into r from juror_record where court = c.name and person = v_person;
    v_newcomer := coalesce(r.judged, 0) < c.bar_after and not c.bar_newcomers;
    v_eligible := case when coalesce(r.judged, 0) < c.bar_after then c.bar_newcomers
                       else r.agreed >= c.bar_agreement * r.judged end;
  end if;
  return row(v_person,
             array(select id from juror where court = c.name and list = c.list and person = v_person) || p_juror,
             coalesce(v_eligible, false), v_newcomer)::juror_seen;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_case(p_id text, p_type text, p_actor text, p_data json, p_now timestamp with time zone, p_versioned boolean DEFAULT true, p_done text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  f case_file;
  c court;
  v_live integer;
  v_first timestamptz;
begin
  select count(*), min(expires_at) into v_live, v_first from lease
   where kind = 'case' and item_id = p_id and ended_at is null;
  update case_file set holds = v_live where id = p_id returning * into f;
  select * into c from court where name = f.court;
  update item i
     set room = case_room(f, c), inviting = case_invites(f, c), wake_at = least(i.deadline_at, v_first),
         rank = case_rank(c, i.priority, i.first_available_at),
         skipped = case when p_done is null then i.skipped else i.skipped || p_done end,
         attempts = i.attempts + (p_type in ('claimed', 'invited'))::integer,
         version = case when p_versioned then nextval('item_version') else i.version end, event_seq = i.event_seq + 1,
         last_event = p_type, last_actor = p_actor, last_data = p_data, updated_at = p_now
   where i.kind = 'case' and i.id = p_id;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_occurrence(p_id text, p_event text, p_actor text, p_data json, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  i item;
  t task;
  v_live integer;
  v_done integer;
  v_first timestamptz;
  v_open boolean;
  v_room integer;
  v_end text;
begin
  select * into i from item where kind = 'task' and id = p_id;
  select * into t from task where id = task_of(p_id);
  select count(*) filter (where ended_at is null), count(*) filter (where why = 'settled'), min(expires_at) filter (where ended_at is null)
    into v_live, v_done, v_first from lease where kind = 'task' and item_id = p_id;
  v_open := t.state = 'active' and not i.closing and i.deadline_at > p_now;
  v_room := case when v_open then greatest(t.dispatch_times - v_live - v_done, 0) else 0 end;
  v_end := case when v_room > 0 or v_live > 0 then null when v_done > 0 then 'settled'
                when i.closing or t.state = 'deleted' then 'invalidated' else 'expired' end;
  update item
     set queue = t.queue, body = t.params, callback = t.callback, room = case when v_end is null then v_room end,
         state = coalesce(v_end, i.state), ended_at = case when v_end is not null then p_now end,
         ended_by = case when v_end is not null then p_actor end,
         end_reason = case when v_end is not null then p_data ->> 'reason' end,
         result = case when v_end = 'settled' then json_build_object('completed', v_done) end,
         telling = coalesce(v_end = 'settled' and t.callback is not null, false),
         wake_at = case when v_end is null then least(case when i.state = 'delayed' then i.available_at end, v_first,
                                                      case when v_room > 0 then i.deadline_at end) end,
         version = nextval('item_version'), event_seq = event_seq + 1, last_event = p_event, last_actor = p_actor,
         last_data = p_data, updated_at = p_now,
         -- given back, raised or moved: it is new to those who have passed it by
         stocked_by = case when v_end is null and v_room > 0 and (i.room = 0 or i.queue <> t.queue) then pg_current_xact_id()
                           else i.stocked_by end
   where kind = 'task' and id = p_id;
  if v_end is not null then delete from taken_task where item_id = p_id; end if;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_review(p_review review)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update review set record = p_review.record, version = p_review.version, log_seq = p_review.log_seq,
                    updated_at = p_review.updated_at
   where id = p_review.id;
  insert into review_base as b (review_id, status, pictures, replies, version, updated_at)
  values (p_review.id, (p_review.record #>> '{text,status}')::integer, jsonb_array_length(p_review.record -> 'pictures'),
          jsonb_array_length(p_review.record -> 'replies'), p_review.version, p_review.updated_at)
  on conflict (review_id) do update
     set status = excluded.status, pictures = excluded.pictures, replies = excluded.replies,
         version = excluded.version, updated_at = excluded.updated_at;
end $function$;

CREATE OR REPLACE FUNCTION public.late_vote(i item, f case_file, c court, l lease, p_option text, p_comment text, p_now timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if i.state <> 'settled' or l.why is distinct from 'closed' or l.refused_at is not null then return false; end if;
  update lease set refused_at = p_now where token = l.token;
  update case_file set wasted = wasted + 1 where id = f.id;
  insert into tally (kind, queue, what, n) values ('case', f.court, 'wasted', 1);
  update item set event_seq = event_seq + 1, last_event = 'refused', last_actor = l.holder, updated_at = p_now,
         last_data = json_build_object('attempt', 'vote', 'reason', 'decided')
   where kind = 'case' and id = i.id;
  if not c.record_late then return false; end if;
  insert into vote (token, case_id, court, juror, person, option, comment, at, counted, gold)
  values (l.token, i.id, f.court, l.holder, l.slot, p_option, p_comment, p_now, false, false) on conflict do nothing;
  return found;
end $function$;

CREATE OR REPLACE FUNCTION public.leave_case(p_id text, p_token text, p_subject text, p_type text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  i item;
  c court;
  l lease;
  v_now timestamptz;
begin
  select * into i from item where kind = 'case' and id = p_id for update;
  if not found then return 'not_found'; end if;
  v_now := clock_timestamp();
  select * into c from court where name = i.queue;
  select * into l from lease where token = p_token and kind = 'case' and item_id = p_id;
  if l.token is not null and not speaks_for(c, p_subject, l) then return 'foreign'; end if;
  if p_type = 'declined' and not coalesce(l.invited, true) then return 'not_invited'; end if;
  if l.why = 'released' and i.ended_at is null then return 'repeated'; end if;
  if i.ended_at is null and l.ended_at is null and l.expires_at <= v_now then
    perform advance_cases(array[p_id]);
    return 'lease_lost';
  end if;
  if i.ended_at is not null then return 'not_open'; end if;
  if l.token is null or l.ended_at is not null then return 'lease_lost'; end if;
  update lease set ended_at = greatest(v_now, granted_at), why = 'released', ended_by = l.holder where token = p_token;
  perform keep_case(p_id, p_type, l.holder, null, v_now, true, case when p_type <> 'released' then l.slot end);
  return 'done';
end $function$;

CREATE OR REPLACE FUNCTION public.local_instant(p_local timestamp without time zone, p_zone text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE STRICT
AS $function$
  select case when e.at at time zone p_zone = p_local then e.at else l.at end
    from (select p_local at time zone p_zone as at) l
   cross join lateral (select l.at - interval '1 day' as at) d
   -- reckoned by the offset of the day before
   cross join lateral (
     select (p_local - (d.at at time zone p_zone - d.at at time zone 'UTC')) at time zone 'UTC' as at) e
$function$;

CREATE OR REPLACE FUNCTION public.lock_first(p_ids text[])
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  v_id text;
begin
  if p_ids = '{}' then return null; end if;
  select i.id into v_id from unnest(p_ids) with ordinality as n (id, no) join item i on i.kind = 'case' and i.id = n.id
   where i.state = 'ready' and i.room > 0 order by n.no limit 1 for update of i skip locked;
  return coalesce(v_id, '');
end $function$;

CREATE OR REPLACE FUNCTION public.lock_rotations(p_queue text)
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_advisory_xact_lock(hashtextextended('rotations' || chr(31) || p_queue, 0))
$function$;

CREATE OR REPLACE FUNCTION public.log_delivery()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into tally (kind, queue, what, n)
    select 'delivery', kind, state, count(*) from new_delivery group by kind, state;
  elsif tg_op = 'DELETE' then
    insert into tally (kind, queue, what, n)
    select 'delivery', kind, state, -count(*) from old_delivery group by kind, state;
  else
    insert into tally (kind, queue, what, n)
    select 'delivery', kind, what, sum(n) from (
      select kind, state as what, 1 as n from new_delivery
      union all select kind, state, -1 from old_delivery
      union all select n.kind, 'attempt_' || n.state, n.attempts - o.attempts
                  from new_delivery n full join old_delivery o on o.kind = n.kind and o.item_id = n.item_id and o.n = n.n) d
     group by kind, what having sum(n) <> 0;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.log_item_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  with logged as (
    insert into event (kind, item_id, seq, type, actor, at, data)
    select kind, id, event_seq, last_event, last_actor, updated_at, last_data from new_item
  ), told as (
    insert into outbox (version, kind, item_id, node)
    select version, kind, id, coalesce(current_setting('docket.node', true), '') from new_item
  )
  insert into tally (kind, queue, what, n)
  select kind, queue, state, count(*) from new_item group by kind, queue, state;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.log_item_update()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  with pair as materialized (
    select n.kind, n.id, n.queue, n.state, n.version, n.event_seq, n.last_event, n.last_actor, n.last_data,
           n.updated_at, n.lease_id, n.holder, n.granted_at, n.lease_follows, n.lease_end,
           o.queue as old_queue, o.state as old_state, o.version as old_version,
           o.event_seq as old_event_seq, o.lease_id as old_lease_id, o.holder as old_holder
      -- full, because that cannot become a nested loop: the plan made for one row is kept for a thousand
      from new_item n full join old_item o on o.kind = n.kind and o.id = n.id
  ), logged as (
    insert into event (kind, item_id, seq, type, actor, at, data)
    select kind, id, event_seq, last_event, last_actor, updated_at, last_data
      from pair where event_seq > old_event_seq
  ), told as (
    insert into outbox (version, kind, item_id, node)
    select version, kind, id, coalesce(current_setting('docket.node', true), '')
      from pair where version > old_version
  ), granted as (
    insert into lease (token, kind, item_id, queue, holder, granted_at, follows)
    select lease_id, kind, id, queue, holder, granted_at, lease_follows
      from pair where lease_id is not null and lease_id is distinct from old_lease_id
  ), ended as (
    update lease l
       set ended_at = greatest(p.updated_at, l.granted_at), why = p.lease_end, ended_by = p.last_actor
      from pair p where l.token = p.old_lease_id and p.lease_id is distinct from p.old_lease_id
  ), noticed as (
    insert into notice (kind, item_id, queue, person, type, data)
    select kind, id, old_queue, old_holder, 'lease_lost', json_build_object(
             'reason', case when lease_end = 'closed' then last_event else lease_end end, 'by', last_actor)
      from pair
     where old_lease_id is not null and lease_id is distinct from old_lease_id
       and (last_actor <> old_holder or lease_end not in ('settled', 'released', 'transferred'))
    union all
    select kind, id, queue, holder, 'changed', json_build_object('version', version)
      from pair where lease_id = old_lease_id and version > old_version
  ), moved as (
    select kind, queue, state, old_queue, old_state from pair
     where state <> old_state or queue <> old_queue
  )
  insert into tally (kind, queue, what, n)
  select kind, queue, what, sum(n) from (
    select kind, queue, state as what, 1 as n from moved
    union all select kind, old_queue, old_state, -1 from moved
    union all select kind, old_queue, 'lease_expired', 1 from pair
               where lease_end = 'expired' and old_lease_id is not null and lease_id is null
  ) d group by kind, queue, what having sum(n) <> 0;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.log_review(p_id text, p_after integer)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  insert into event (kind, item_id, seq, type, actor, at, data)
  select 'review', review_id, seq, outcome, actor, applied_at,
         json_build_object('kind', kind, 'targetId', nullif(target_id, ''), 'status', status, 'auditTime', iso_time(audit_time),
                           'callbackId', callback_id, 'reason', reason, 'before', before, 'after', after)
    from review_callback where review_id = p_id and seq > p_after order by seq;
  insert into tally (kind, queue, what, n)
  select 'review', to_char(applied_at at time zone 'UTC', 'YYYY-MM-DD'), outcome, count(*)
    from review_callback where review_id = p_id and seq > p_after group by 2, 3;
end $function$;

CREATE OR REPLACE FUNCTION public.look_back(p_person text)
 RETURNS TABLE(since_rank bigint, seen xid8)
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select i.rank, f.seen
    from (select item_id from lease where kind = 'task' and slot = p_person and why = 'settled' order by ended_at desc limit 1) d
    join item i on i.kind = 'task' and i.id = d.item_id
    -- of a blocking one, when it was given the first time: what has come since then had to wait for it
   cross join lateral (select seen from lease where kind = 'task' and item_id = d.item_id and slot = p_person
                        order by granted_at limit 1) f
   -- transactions are counted anew in a database that was restored from a dump: then nothing is passed by
   where f.seen <= pg_snapshot_xmin(pg_current_snapshot())
$function$;

CREATE OR REPLACE FUNCTION public.make_occurrences(p_task text, p_now timestamp with time zone, p_limit integer)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  t task;
  v_from timestamptz;
  v_until timestamptz;
  v_times timestamptz[];
begin
  select * into t from task where id = p_task for update;
  -- what is due at the first moment of the look-back still counts
  v_from := greatest(t.made_until, p_now - make_interval(secs => t.lookback_seconds) - interval '1 microsecond');
  v_until := case t.type when 'once' then t.start_time else p_now end;
  if t.type = 'rotate' and t.catch_up = 'newest' then
    select array[max(s)] into v_times
      from task_times(t, greatest(v_from, least(p_now, t.end_time) - 2 * task_step(t)), v_until, 10000) s having max(s) is not null;
  else
    select array_agg(s) into v_times from task_times(t, v_from, v_until, p_limit) s;
  end if;
  update task set made_until = case when cardinality(v_times) = p_limit then v_times[p_limit] else p_now end where id = p_task;
  if v_times is null then return; end if;
  return query select * from put_occurrences(t, v_times, p_now);
  if t.type = 'rotate' and t.catch_up = 'newest' then
    return query select * from void_occurrences(t, array[]::text[], v_times[1], 'superseded', 'system', p_now);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.may_judge(f case_file, j juror_seen)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select j.admitted or j.newcomer and f.gold is not null
$function$;

CREATE OR REPLACE FUNCTION public.next_cases(c court, j juror_seen, p_shown text[], p_now timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
declare
  v_from bigint := case when c.around then (random() * 4503599627370496)::bigint else -9223372036854775808 end;
begin
  return array(
    (select i.id from item i join case_file f on f.id = i.id
      where i.kind = 'case' and i.queue = c.name and i.state = 'ready' and i.room > 0 and f.gold is null and i.rank >= v_from
        and (i.deadline_at is null or i.deadline_at > p_now)
        and i.id <> all (p_shown) and not j.person = any (i.skipped)
        and not f.party_ids && j.ids and not j.person = any (f.party_persons)
        and not exists (select from vote v where v.case_id = i.id and (v.person = j.person or v.juror = any (j.ids)))
      order by i.rank, i.seq limit 8)
    union all
    (select i.id from item i join case_file f on f.id = i.id
      where i.kind = 'case' and i.queue = c.name and i.state = 'ready' and i.room > 0 and f.gold is null and i.rank < v_from
        and (i.deadline_at is null or i.deadline_at > p_now)
        and i.id <> all (p_shown) and not j.person = any (i.skipped)
        and not f.party_ids && j.ids and not j.person = any (f.party_persons)
        and not exists (select from vote v where v.case_id = i.id and (v.person = j.person or v.juror = any (j.ids)))
      order by i.rank, i.seq limit 8)
    limit 8);
end $function$;

CREATE OR REPLACE FUNCTION public.next_change(p_id text)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  select n from delivery where kind = 'review' and item_id = p_id and state = 'pending' order by n limit 1
$function$;

CREATE OR REPLACE FUNCTION public.next_escalation(p_escalations jsonb, p_since timestamp with time zone, p_escalated_seconds double precision)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
begin
  if p_escalations = '[]'::jsonb then return null; end if;
  return (
    select p_since + make_interval(secs => min(s."afterSeconds"))
      from jsonb_to_recordset(p_escalations) as s("afterSeconds" double precision)
     where s."afterSeconds" > p_escalated_seconds);
end $function$;

CREATE OR REPLACE FUNCTION public.next_gold(c court, j juror_seen, p_shown text[])
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
begin
  -- most courts have none: nothing else is read then
  if c.gold_share = 0 and j.admitted or not exists (select from case_file where court = c.name and gold is not null) then return '{}'; end if;
  return array(
    select i.id from case_file f join item i on i.kind = 'case' and i.id = f.id
     where f.court = c.name and f.gold is not null and i.state = 'ready' and f.id <> all (p_shown)
       and not j.person = any (i.skipped) and case_bar(f, j) is null
     order by random() limit 8);
end $function$;

CREATE OR REPLACE FUNCTION public.next_tasks(p_sent json)
 RETURNS TABLE(person text, outcome text, log_id text, given json, item item)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
#variable_conflict use_column
declare
  x record;
  l lease;
  v_item item;
  v_id text;
  v_seen xid8;
  v_now timestamptz;
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('task', '', s.person) as key from json_to_recordset(p_sent) as s (person text) order by 1) s;
  v_now := clock_timestamp();
  -- whose time to answer has run out, and no clock has come by yet
  return query select null::text, 'advanced', null::text, null::json, a from advance_tasks(array(
    select o.item_id from json_to_recordset(p_sent) as s (person text)
      join lease o on o.kind = 'task' and o.slot = s.person and o.ended_at is null and o.expires_at <= v_now)) a;

  for x in select s.*, array(select json_array_elements_text(s.exclude)) as excluded
             from json_to_recordset(p_sent) as s (person text, uid text, exclude json, token text, explain boolean)
  loop
    select * into l from lease o where o.kind = 'task' and o.slot = x.person and o.ended_at is null;
    if found then
      select * into v_item from item i where i.kind = 'task' and i.id = l.item_id;
      return query select x.person, 'redo', l.token, l.given, v_item;
      continue;
    end if;
    -- before the choice, so that it saw all of what is older
    v_seen := pg_snapshot_xmin(pg_current_snapshot());
    v_id := first_task(x.person, x.excluded, v_now);
    if v_id is null then
      return query select x.person, 'none', null::text, task_prospect(x.person, x.excluded, x.explain, v_now), null::item;
      continue;
    end if;
    select * into v_item from item i
     where i.kind = 'task' and i.id = v_id and i.state = 'ready' and i.room > 0 for update skip locked;
    if not found then
      return query select x.person, 'busy', null::text, null::json, null::item;
    else
      return query select * from dispatch_task(v_item, x.person, x.uid, x.token, v_seen);
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.next_time(t task, p_after timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select task_times(t, p_after, greatest(p_after, t.start_time) + 2 * task_step(t), 1)
$function$;

CREATE OR REPLACE FUNCTION public.note_freed_juror()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform free_jurors(new.queue, array[new.slot]);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.number_events(p_limit integer)
 RETURNS TABLE(numbered integer, newest bigint)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  v_state feed_state;
  v_ids bigint[];
  v_holes bigint[];
  v_filled bigint[];
  v_oldest xid8;
  v_count integer;
  v_last bigint;
begin
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'number_events has to be a transaction of its own: its id must be newer than its snapshot';
  end if;
  perform pg_advisory_xact_lock(7236003);
  -- what follows has snapshots of its own, which see what the holder before has committed
  select * into strict v_state from feed_state;

  -- one statement, so one snapshot for the holes, for what is behind them, and for who still runs
  with seen as materialized (
    select id, hole from (
      (select e.id, h.first as hole from feed_hole h
        cross join lateral (
          select i.id from event i where i.id between h.first and h.last order by i.id limit p_limit) e
        order by e.id limit p_limit)
      union all
      (select i.id, null from event i where i.id > v_state.upto order by i.id limit p_limit)) s
     order by id limit p_limit
  ), placed as (
    insert into feed (seq, event_id) select v_state.newest + row_number() over (order by id), id from seen
  )
  select array_agg(id order by id), array_agg(hole order by id), array_agg(id) filter (where hole is not null),
         pg_snapshot_xmin(pg_current_snapshot())
    into v_ids, v_holes, v_filled, v_oldest from seen;
  v_count := coalesce(cardinality(v_ids), 0);

  if v_count > 0 then
    v_last := greatest(v_state.upto, v_ids[v_count]);
    with stretch as (
      select first, last, seen_by from feed_hole where first = any (v_holes)
      union all
      select v_state.upto + 1, v_last, pg_current_xact_id() where v_last > v_state.upto
    ), cut as (
      select s.first, s.seen_by, n.id as at
        from unnest(v_ids, v_holes) as n (id, hole) join stretch s on s.first = coalesce(n.hole, v_state.upto + 1)
      union all
      select first, seen_by, last + 1 from stretch
    ), piece as (
      select lag(at, 1, first - 1) over (partition by first order by at) + 1 as first, at - 1 as last, seen_by from cut
    )
    insert into feed_hole as h (first, last, seen_by) select first, last, seen_by from piece where first <= last
    on conflict (first) do update set last = excluded.last;
    -- where the first id of a hole has come, what is left of it stands under another
    delete from feed_hole where first = any (v_filled);
    update feed_state set upto = v_last, newest = v_state.newest + v_count;
  end if;

  -- a full pass has not looked at what is behind its last one
  delete from feed_hole where seen_by < v_oldest and (v_count < p_limit or last < v_ids[v_count]);
  return query select v_count, v_state.newest + v_count;
end $function$;

CREATE OR REPLACE FUNCTION public.occurrence_deadline(t task, p_at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select least(p_at + make_interval(secs => t.lookback_seconds), case when t.type = 'once' then t.end_time end)
$function$;

CREATE OR REPLACE FUNCTION public.park_item(p_kind text, p_id text, p_error text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into parked (kind, item_id, until, error)
  values (p_kind, p_id, clock_timestamp() + interval '1 minute', p_error)
  on conflict (kind, item_id) do update set until = excluded.until, error = excluded.error;
  begin
    update item set event_seq = event_seq + 1, last_event = 'parked', last_actor = 'system',
           last_data = json_build_object('error', p_error), updated_at = clock_timestamp()
     where kind = p_kind and id = p_id;
  exception when others then
    null; -- whatever made the transition fail may refuse this too; the parked row is what counts
  end;
end $function$;

CREATE OR REPLACE FUNCTION public.person_key(p_kind text, p_queue text, p_person text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN hashtextextended(((((p_kind || chr(31)) || p_queue) || chr(31)) || p_person), (0)::bigint);

CREATE OR REPLACE FUNCTION public.pick_case(c court, j juror_seen, p_shown text[], p_free integer, p_now timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  v_places text[];
  v_id text;
  v_found text;
begin
  if p_free is null then return pick_new(c, j, p_shown, p_now); end if;
  select array_agg(s.id order by random()) into v_places from (
    select i.id from unnest(p_shown) as x (id) join item i on i.kind = 'case' and i.id = x.id
      join case_file f on f.id = i.id
     where i.state = 'ready' and i.room > 0 and (i.deadline_at is null or i.deadline_at > p_now)
       and not j.person = any (i.skipped) and may_judge(f, j) and case_bar(f, j) is null
    union all select null from generate_series(1, p_free)) s;
  for n in 1 .. coalesce(cardinality(v_places), 0) loop
    v_id := case when v_places[n] is null then pick_new(c, j, p_shown, p_now) else lock_first(v_places[n:n]) end;
    if v_id <> '' then return v_id; end if;
    v_found := coalesce(v_id, v_found);
  end loop;
  return v_found;
end $function$;

CREATE OR REPLACE FUNCTION public.pick_new(c court, j juror_seen, p_shown text[], p_now timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  v_gold boolean := not j.admitted or random() < c.gold_share;
  v_id text;
  v_found text;
begin
  for n in 0 .. j.admitted::integer loop
    v_id := lock_first(case when v_gold = (n = 0) then next_gold(c, j, p_shown) else next_cases(c, j, p_shown, p_now) end);
    if v_id <> '' then return v_id; end if;
    v_found := coalesce(v_id, v_found);
  end loop;
  return v_found;
end $function$;

CREATE OR REPLACE FUNCTION public.pick_plain(p_kind text, p_queue text, p_persons text[], p_count integer, p_now timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  v_ids text[];
begin
  with c as materialized (
    select id, rank, seq from item
     where kind = p_kind and queue = p_queue and state = 'ready' and requires_key = '' and rules_due_at is null
       and (deadline_at is null or deadline_at > p_now)
       and (cardinality(p_persons) > 1
            or not (p_persons[1] = any (exclude) or p_persons[1] = any (skipped)))
     order by rank, seq
     limit p_count
       for update skip locked)
  select array_agg(id order by rank, seq) into v_ids from c;
  return v_ids;
end $function$;

CREATE OR REPLACE FUNCTION public.pick_skilled(p_kind text, p_queue text, p_person text, p_skills text[], p_count integer, p_now timestamp with time zone)
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
declare
  v_ids text[];
  v_seen integer;
  v_depth integer := p_count;
begin
  loop
    with recursive key (requires_key) as (
      (select requires_key from item
        where kind = p_kind and queue = p_queue and state = 'ready' order by requires_key limit 1)
      union all
      select (select i.requires_key from item i
               where i.kind = p_kind and i.queue = p_queue and i.state = 'ready'
                 and i.requires_key > key.requires_key order by i.requires_key limit 1)
        from key where key.requires_key is not null
    ), head as materialized (
      select h.* from key cross join lateral (
        select id, rank, seq from item i
         where i.kind = p_kind and i.queue = p_queue and i.state = 'ready' and i.requires_key = key.requires_key
           and (deadline_at is null or deadline_at > p_now) and rules_due_at is null
           and not (p_person = any (exclude) or p_person = any (skipped))
         order by rank, seq limit v_depth) h
       where key.requires_key is not null
         and (key.requires_key = '' or string_to_array(key.requires_key, ',') <@ p_skills)
    ), locked as materialized (
      select i.id, i.rank, i.seq from item i
       where i.kind = p_kind and i.id in (select id from head order by rank, seq limit v_depth) and i.state = 'ready'
         and i.rules_due_at is null
       order by i.rank, i.seq limit p_count for update skip locked
    )
    select array_agg(id order by rank, seq), (select count(*) from head) into v_ids, v_seen from locked;
    exit when coalesce(cardinality(v_ids), 0) >= p_count or v_seen < v_depth or v_depth > 4096;
    v_depth := v_depth * 4 + 16;
  end loop;
  return v_ids;
end $function$;

CREATE OR REPLACE FUNCTION public.plan_task(p_id text, p_now timestamp with time zone)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  t task;
begin
  return query select * from make_occurrences(p_id, p_now, 1000);
  select * into t from task where id = p_id;
  if t.type = 'rotate' then return query select * from set_rotation(p_id, next_time(t, t.made_until), p_now); end if;
end $function$;

CREATE OR REPLACE FUNCTION public.pop_jobs(p_topics text[], p_tokens text[], p_holders text[], p_max_bytes integer)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  v_now timestamptz := clock_timestamp();
  v_topics text[];
  v_ids text[];
  v_seen integer;
  v_count integer := cardinality(p_tokens);
  v_depth integer := v_count;
begin
  select array_agg(name) into v_topics from queue
   where kind = 'job' and name = any (p_topics) and not paused and (paused_until is null or paused_until <= v_now);
  if v_topics is null then return; end if;
  loop
    if cardinality(v_topics) = 1 then
      with locked as materialized (
        select id, rank, seq from item
         where kind = 'job' and queue = v_topics[1] and state = 'ready' and requires_key = ''
           and (p_max_bytes is null or body_bytes <= p_max_bytes)
         order by rank, seq limit v_count for update skip locked)
      select array_agg(id order by rank, seq), 0 into v_ids, v_seen from locked;
    else
      with head as materialized (
        select h.* from unnest(v_topics) as t (queue) cross join lateral (
          select i.id, i.rank, i.seq from item i
           where i.kind = 'job' and i.queue = t.queue and i.state = 'ready' and i.requires_key = ''
             and (p_max_bytes is null or i.body_bytes <= p_max_bytes)
           order by i.rank, i.seq limit v_depth) h
      ), locked as materialized (
        select i.id, i.rank, i.seq from item i
         where i.kind = 'job' and i.id in (select id from head order by rank, seq limit v_depth) and i.state = 'ready'
         order by i.rank, i.seq limit v_count for update skip locked)
      select array_agg(id order by rank, seq), (select count(*) from head) into v_ids, v_seen from locked;
    end if;
    exit when coalesce(cardinality(v_ids), 0) >= v_count or v_seen < v_depth or v_depth > 4096;
    v_depth := v_depth * 4 + 16;
  end loop;

  v_now := clock_timestamp();
  -- locked, so ready still; asked for that again, a planner without statistics goes by a partial index of all ready ones
  return query
    update item i
       set state = 'held', lease_id = s.token, holder = s.holder, granted_at = v_now,
           expires_at = v_now + make_interval(secs => i.lease_seconds),
           wake_at = v_now + make_interval(secs => i.lease_seconds),
           lease_follows = null, lease_end = null, attempts = i.attempts + 1,
           version = nextval('item_version'), event_seq = i.event_seq + 1,
           last_event = 'reserved', last_actor = s.holder,
           last_data = json_build_object('attempt', i.attempts + 1), updated_at = v_now
      from unnest(v_ids, p_tokens, p_holders) as s (id, token, holder)
     where i.kind = 'job' and i.id = s.id
    returning i.*;
end $function$;

CREATE OR REPLACE FUNCTION public.pop_to_push(p_topic text, p_tokens text[], p_limit integer)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  v_room integer;
begin
  perform pg_advisory_xact_lock(hashtextextended('push' || chr(31) || p_topic, 0));
  select least(cardinality(p_tokens), p_limit - count(*)) into v_room from item
   where kind = 'job' and queue = p_topic and state = 'held' and holder = 'push' and expires_at > clock_timestamp();
  if v_room <= 0 then return; end if;
  return query select * from pop_jobs(
    array[p_topic], p_tokens[1:v_room], array_fill('push'::text, array[v_room]), null);
end $function$;

CREATE OR REPLACE FUNCTION public.publish_invitations(c court, p_id text, p_tokens text[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  v_version bigint := nextval('item_version');
begin
  update item set version = v_version where kind = 'case' and id = p_id;
  insert into notice (kind, item_id, queue, person, type, data)
  select 'case', p_id, c.name, l.holder, 'invited', json_build_object('court', c.name, 'expiresAt', iso_time(l.expires_at))
    from lease l where l.token = any (p_tokens);
  if c.invitation_callback is null then return; end if;
  with added as (
    insert into delivery (kind, item_id, n, type, version, queue, url, state, body)
    select 'case', p_id, last.n + row_number() over (order by l.token), 'case.invited', v_version, c.name, c.invitation_callback ->> 'url',
           'pending', json_build_object('token', l.token)
      from lease l, (select coalesce(max(d.n), 1) as n from delivery d where d.kind = 'case' and d.item_id = p_id) last
     where l.token = any (p_tokens)
    returning kind, item_id, n)
  insert into delivery_start (kind, item_id, n) select kind, item_id, n from added;
end $function$;

CREATE OR REPLACE FUNCTION public.put_back_deliveries(r reconciliation, p_limit integer, OUT put integer, OUT read integer, OUT after_kind text, OUT after_id text, OUT after_n integer)
 RETURNS record
 LANGUAGE sql
AS $function$
  with found as materialized (
    select kind, item_id, n from delivery
     where state = 'pending' and (kind, item_id, n) > (r.after_kind, r.after_id, r.after_n)
     order by kind, item_id, n limit p_limit
  ), reviews as (
    insert into outbox (version, kind, item_id, node)
    select distinct v.version, 'review', v.id, 'reconcile' from found f join review v on v.id = f.item_id where f.kind = 'review'
    on conflict do nothing
  ), again as (
    insert into resync (what, parent, name, n, at)
    select 'delivery', i.kind, i.id, f.n, '-infinity'
      from found f join item i on i.kind = f.kind and i.id = f.item_id and (f.n > 1 or not i.telling)
  ), last as (select kind, item_id, n from found order by kind desc, item_id desc, n desc limit 1)
  select count(*)::integer, count(*)::integer, (select kind from last), (select item_id from last), (select n from last) from found
$function$;

CREATE OR REPLACE FUNCTION public.put_back_open(r reconciliation, p_limit integer, OUT put integer, OUT read integer, OUT after_kind text, OUT after_id text)
 RETURNS record
 LANGUAGE sql
AS $function$
  with found as materialized (
    select kind, id, version, ended_at is null and (wake_at is not null or coalesce(inviting, false)) = (r.stage = 'due') as wanted
      from item where (kind, id) > (r.after_kind, r.after_id) order by kind, id limit p_limit
  ), kept as (
    insert into outbox (version, kind, item_id, node)
    select version, kind, id, 'reconcile' from found where wanted on conflict do nothing
  ), last as (select kind, id from found order by kind desc, id desc limit 1)
  select count(*) filter (where wanted)::integer, count(*)::integer, (select kind from last), (select id from last) from found
$function$;

CREATE OR REPLACE FUNCTION public.put_back_outcomes(r reconciliation, p_limit integer, OUT put integer, OUT read integer, OUT after_kind text, OUT after_id text)
 RETURNS record
 LANGUAGE sql
AS $function$
  with found as materialized (
    select kind, id, version from item where telling and (kind, id) > (r.after_kind, r.after_id) order by kind, id limit p_limit
  ), kept as (
    insert into outbox (version, kind, item_id, node) select version, kind, id, 'reconcile' from found on conflict do nothing
  ), last as (select kind, id from found order by kind desc, id desc limit 1)
  select count(*)::integer, count(*)::integer, (select kind from last), (select id from last) from found
$function$;

CREATE OR REPLACE FUNCTION public.put_back_reviews(r reconciliation, p_limit integer, OUT put integer, OUT read integer, OUT after_id text)
 RETURNS record
 LANGUAGE sql
AS $function$
  with found as materialized (
    select distinct review_id from review_callback
     where outcome = 'pending' and review_id > r.after_id collate "C" order by review_id limit p_limit
  ), kept as (
    insert into outbox (version, kind, item_id, node)
    select v.version, 'review', v.id, 'reconcile' from found f join review v on v.id = f.review_id on conflict do nothing
  )
  select count(*)::integer, count(*)::integer, max(review_id) from found
$function$;

CREATE OR REPLACE FUNCTION public.put_back_schedules(r reconciliation, p_limit integer, OUT put integer, OUT read integer, OUT after_kind text, OUT after_id text)
 RETURNS record
 LANGUAGE sql
AS $function$
  with found as materialized (
    select topic, name from schedule where (topic, name) > (r.after_kind, r.after_id) order by topic, name limit p_limit
  ), kept as (
    insert into resync (what, parent, name, at) select 'schedule', topic, name, '-infinity' from found
  ), last as (select topic, name from found order by topic desc, name desc limit 1)
  select count(*)::integer, count(*)::integer, (select topic from last), (select name from last) from found
$function$;

CREATE OR REPLACE FUNCTION public.put_back(p_limit integer, p_most integer)
 RETURNS TABLE(stage text, put integer)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  r reconciliation;
  v_stages text[] := array['schedules', 'deliveries', 'reviews', 'outcomes', 'due', 'open'];
  v_put integer;
  v_read integer;
begin
  select * into r from reconciliation c where c.stage is not null for update skip locked;
  if not found then return; end if;
  if r.stage in ('due', 'open') and (select count(*) from (select from outbox limit p_most) o) >= p_most then
    return query select r.stage, null::integer;
    return;
  end if;
  case r.stage
    when 'schedules' then
      select * into v_put, v_read, r.after_kind, r.after_id from put_back_schedules(r, p_limit);
    when 'deliveries' then
      select * into v_put, v_read, r.after_kind, r.after_id, r.after_n from put_back_deliveries(r, p_limit);
    when 'reviews' then
      select * into v_put, v_read, r.after_id from put_back_reviews(r, p_limit);
    when 'outcomes' then
      select * into v_put, v_read, r.after_kind, r.after_id from put_back_outcomes(r, p_limit);
    else
      select * into v_put, v_read, r.after_kind, r.after_id from put_back_open(r, p_limit);
  end case;
  stage := r.stage;
  put := v_put;
  if v_read < p_limit then
    r.stage := v_stages[array_position(v_stages, r.stage) + 1];
    r.after_kind := ''; r.after_id := ''; r.after_n := 0;
  end if;
  update reconciliation c
     set stage = r.stage, after_kind = coalesce(r.after_kind, ''), after_id = coalesce(r.after_id, ''), after_n = coalesce(r.after_n, 0),
         finished_at = case when r.stage is null then clock_timestamp() end;
  return next;
end $function$;

CREATE OR REPLACE FUNCTION public.put_occurrences(t task, p_times timestamp with time zone[], p_now timestamp with time zone)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
begin
  return query
  insert into item as i (kind, id, queue, state, rank, body, content_hash, callback, room, version,
                         created_at, available_at, first_available_at, deadline_at, wake_at, stocked_by,
                         event_seq, last_event, last_actor, last_data, updated_at)
  select 'task', t.id || '/' || iso_time(s.at), t.queue, case when s.at > p_now then 'delayed' else 'ready' end,
         item_rank('task', 0, s.at, null, false), t.params, t.content_hash, t.callback, t.dispatch_times, nextval('item_version'),
         p_now, s.at, s.at, d.deadline_at, case when s.at > p_now then s.at else d.deadline_at end,
         -- a rotation's times before it was made are caught up as if it had been there
         case when s.at <= p_now and (t.type = 'once' or s.at >= t.created_at) then pg_current_xact_id() end,
         1, 'created', 'system', json_build_object('executor', t.executor, 'startTime', iso_time(s.at)), p_now
    from unnest(p_times) with ordinality as s (at, n)
   cross join lateral (select occurrence_deadline(t, s.at) as deadline_at) d
   order by s.n
  on conflict (kind, id) do update
     set queue = t.queue, state = excluded.state, body = t.params, callback = t.callback, room = t.dispatch_times,
         deadline_at = excluded.deadline_at, wake_at = excluded.wake_at, closing = false,
         stocked_by = case when excluded.state = 'ready' then pg_current_xact_id() end,
         ended_at = null, ended_by = null, end_reason = null,
         version = nextval('item_version'), event_seq = i.event_seq + 1, last_event = 'rescheduled', last_actor = 'system',
         last_data = null, updated_at = p_now
   where i.state = 'invalidated' and i.end_reason = 'rescheduled'
  returning *;
end $function$;

CREATE OR REPLACE FUNCTION public.put_review(p_id text, p_targets jsonb, p_body json, p_callback jsonb, p_actor text DEFAULT 'anonymous'::text)
 RETURNS TABLE(created boolean, told_version bigint, now timestamp with time zone)
 LANGUAGE plpgsql
AS $function$
declare
  v_review review;
  v_before jsonb;
  v_created boolean;
  v_told bigint;
begin
  insert into review (id, record) values (p_id, '{}') on conflict do nothing;
  v_created := found;
  while (select a.more from apply_review(p_id, 500) a) loop null; end loop;
  select * into v_review from review where id = p_id for no key update;
  v_before := v_review.record;
  v_review.updated_at := clock_timestamp();

  update review_index x set removed_at = v_review.updated_at
   where x.review_id = p_id and x.removed_at is null
     and not exists (select from jsonb_to_recordset(p_targets) as t (kind text, id text)
                      where t.kind = x.kind and t.id = x.target_id);
  insert into review_index as x (review_id, kind, target_id, position, status)
  select p_id, t.kind, t.id, t.position, t.status
    from jsonb_to_recordset(p_targets) as t (kind text, id text, position integer, status integer)
  on conflict (review_id, kind, target_id) do update
     set position = excluded.position,
         status = case when x.removed_at is null then x.status else excluded.status end,
         audit_time = case when x.removed_at is null then x.audit_time end,
         arrival = case when x.removed_at is null then x.arrival end,
         removed_at = null;

  -- of what has been put down until now some may not have been sent, or be sent again
  if v_review.body::text is distinct from p_body::text and exists (select from delivery where kind = 'review' and item_id = p_id) then
    insert into review_body (review_id, until_seq, body) values (p_id, v_review.log_seq, v_review.body);
  end if;
  update review set body = p_body, callback = p_callback where id = p_id;
  v_review.body := null;
  v_review.record := record_of_index(p_id);
  v_review.callback := p_callback;
  if v_created then
    -- the log begins with what comes later, so this line has the number before
    insert into event (kind, item_id, seq, type, actor, at, data)
    values ('review', p_id, 0, 'created', p_actor, v_review.updated_at,
            json_build_object('kind', null, 'targetId', null, 'status', null, 'auditTime', null,
                              'callbackId', null, 'reason', null, 'before', null, 'after', v_review.record));
  else
    v_review.version := nextval('item_version');
    v_review.log_seq := v_review.log_seq + 1;
    insert into review_callback (review_id, kind, received_at, applied_at, outcome, seq, before, after, version, actor)
    values (p_id, 'edit', v_review.updated_at, v_review.updated_at, 'edited', v_review.log_seq, v_before, v_review.record,
            v_review.version, p_actor);
    perform log_review(p_id, v_review.log_seq - 1);
    perform announce_review(v_review, v_review.log_seq);
    insert into outbox (version, kind, item_id, node)
    values (nextval('item_version'), 'review', p_id, coalesce(current_setting('docket.node', true), ''))
    returning version into v_told;
  end if;
  perform keep_review(v_review);
  return query select v_created, v_told, v_review.updated_at;
end $function$;

CREATE OR REPLACE FUNCTION public.put_status(p_record jsonb, p_target review_index, p_status integer, p_time timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  v_path text[] := case p_target.kind when 'text' then array['text'] when 'picture' then array['pictures', p_target.position::text]
                                      else array['replies', p_target.position::text] end;
begin
  return jsonb_set(p_record, v_path, (p_record #> v_path) || jsonb_build_object('status', p_status, 'auditTime', iso_time(p_time)));
end $function$;

CREATE OR REPLACE FUNCTION public.receive_callbacks(p_reviews text[], p_ids text[], p_kinds text[], p_targets text[], p_statuses integer[], p_times timestamp with time zone[], p_skew_seconds double precision, p_actors text[] DEFAULT NULL::text[], p_wait boolean DEFAULT true)
 RETURNS TABLE(no integer, problem text, arrival bigint, told_version bigint, received_at timestamp with time zone)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_locked text[];
begin
  if p_wait then
    v_locked := array(select r.id from review r where r.id = any (p_reviews) order by r.id for no key update);
  else
    v_locked := array(select r.id from review r where r.id = any (p_reviews) order by r.id for no key update skip locked);
  end if;
  v_now := clock_timestamp();
  return query
  with sent as materialized (
    select s.*, case
             when not exists (select from review r where r.id = s.review) then 'no_review'
             when not s.review = any (v_locked) then 'busy'
             when not exists (select from review_index x
                               where x.review_id = s.review and x.kind = s.what and x.target_id = s.target) then 'no_target'
             when s.time > v_now + make_interval(secs => p_skew_seconds) then 'too_far' end as fault
      from unnest(p_reviews, p_ids, p_kinds, p_targets, p_statuses, p_times, p_actors) with ordinality
             as s (review, id, what, target, status, time, actor, n)
  ), kept as (
    insert into review_callback as c (review_id, callback_id, kind, target_id, status, audit_time, received_at, repeated, actor)
    select s.review, s.id, s.what, s.target, s.status, date_trunc('milliseconds', least(coalesce(s.time, v_now), v_now)), v_now,
           exists (select from review_callback o where o.review_id = s.review and o.callback_id = s.id and not o.repeated),
           coalesce(s.actor, 'anonymous')
      from sent s where s.fault is null order by s.n
    returning c.review_id, c.callback_id, c.arrival
  ), told as (
    insert into outbox as o (version, kind, item_id, node)
    select nextval('item_version'), 'review', k.review_id, coalesce(current_setting('docket.node', true), '')
      from kept k group by k.review_id
    returning o.version, o.item_id
  )
  select s.n::integer, s.fault, k.arrival, t.version, v_now
    from sent s
    left join kept k on k.review_id = s.review and k.callback_id = s.id
    left join told t on t.item_id = s.review and k.arrival is not null;
end $function$;

CREATE OR REPLACE FUNCTION public.record_of_index(p_id text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object(
    'text', (array_agg(t.place) filter (where t.kind = 'text'))[1] - 'id',
    'pictures', coalesce(jsonb_agg(t.place order by t.position) filter (where t.kind = 'picture'), '[]'),
    'replies', coalesce(jsonb_agg(t.place order by t.position) filter (where t.kind = 'reply'), '[]'))
    from (select kind, position, jsonb_build_object('id', target_id, 'status', status, 'auditTime', iso_time(audit_time)) as place
            from review_index where review_id = p_id and removed_at is null) t
$function$;

CREATE OR REPLACE FUNCTION public.refresh_statistics()
 RETURNS SETOF text
 LANGUAGE plpgsql
AS $function$
declare
  v_table text;
begin
  if not pg_try_advisory_xact_lock(7236002) then return; end if;
  for v_table in
    select relname from pg_stat_user_tables
     where relname in ('item', 'event', 'lease', 'review', 'review_index', 'review_callback',
                       'case_file', 'vote', 'juror', 'exposure', 'task', 'member')
       and n_mod_since_analyze > 1000 + n_live_tup / 2
  loop
    execute format('analyze (skip_locked) %I', v_table);
    return next v_table;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.rejudge_cases(p_court text, p_found jsonb, p_settings bigint)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  v record;
  v_now timestamptz;
begin
  perform from item where kind = 'case' and id = any (array(select s.id from jsonb_to_recordset(p_found) as s (id text)))
    and ended_at is null order by id for update;
  if hold_settings(p_court) <> p_settings then
    return next null; return;
  end if;
  v_now := clock_timestamp();
  update case_file f
     set votes_left = (s.verdict ->> 'votesLeft')::integer, stage = (s.verdict ->> 'stage')::integer,
         tally = case when f.gold is null then f.tally else '{}' end
    from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
   where f.id = s.id and f.votes = s.votes and exists (select from item i where i.kind = 'case' and i.id = s.id and i.ended_at is null);

  for v in
    select s.id, s.verdict from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
      join case_file f on f.id = s.id and f.votes = s.votes join item i on i.kind = 'case' and i.id = s.id and i.ended_at is null
     where s.verdict ->> 'winner' is not null or (s.verdict ->> 'hung')::boolean order by s.id
  loop
    perform apply_verdict(v.id, v.verdict, v_now);
    return next v.id;
  end loop;

  return query
  with found as materialized (
    select i.id, n.*, n.deadline_at is distinct from i.deadline_at or n.inviting <> i.inviting as told,
           n.deadline_at is distinct from i.deadline_at as other_deadline, c as court,
           -- it has a place by its age where the place is to be random, or the other way round
           (i.rank = item_rank('case', n.priority, i.first_available_at, null, false)) = c.around as moves
      from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
      join case_file f on f.id = s.id and f.votes = s.votes join item i on i.kind = 'case' and i.id = s.id and i.ended_at is null
      join court c on c.name = p_court
     cross join lateral (select (s.verdict ->> 'priority')::bigint as priority, case_deadline(i, f) as deadline_at,
                                case_room(f, c) as room, case_invites(f, c) as inviting) n
  ), changed as (
    update item i
       set room = n.room, inviting = n.inviting, priority = n.priority, deadline_at = n.deadline_at, updated_at = v_now,
           rank = case when n.moves then case_rank(n.court, n.priority, i.first_available_at) else i.rank end,
           wake_at = case when n.other_deadline then least(n.deadline_at, (
                       select min(l.expires_at) from lease l where l.kind = 'case' and l.item_id = i.id and l.ended_at is null))
                          else i.wake_at end,
           version = case when n.told then nextval('item_version') else i.version end,
           event_seq = i.event_seq + n.told::integer,
           last_event = case when n.told then 'changed' else i.last_event end,
           last_actor = case when n.told then 'system' else i.last_actor end,
           last_data = case when n.told then json_build_object('deadlineAt', n.deadline_at, 'inviting', n.inviting) else i.last_data end
      from found n
     where i.kind = 'case' and i.id = n.id
       and (n.moves or n.told or (n.room, n.priority) is distinct from (i.room, i.priority))
    returning i.id, n.told)
  select id from changed where told;
end $function$;

CREATE OR REPLACE FUNCTION public.renew_hold(p_id text, p_token text, p_subject text)
 RETURNS TABLE(outcome text, expires_at timestamp with time zone)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  i item;
  c court;
  l lease;
  v_until timestamptz;
begin
  select * into i from item where kind = 'case' and id = p_id for update;
  if not found then return query select 'not_found', null::timestamptz; return; end if;
  select * into c from court where name = i.queue;
  select * into l from lease where token = p_token and kind = 'case' and item_id = p_id;
  if l.token is not null and not speaks_for(c, p_subject, l) then return query select 'foreign', null::timestamptz; return; end if;
  if i.ended_at is null and l.ended_at is null and least(l.expires_at, i.deadline_at) <= clock_timestamp() then
    perform advance_cases(array[p_id]);
    select * into i from item where kind = 'case' and id = p_id;
    select * into l from lease where token = p_token;
  end if;
  if i.ended_at is not null then return query select 'not_open', null::timestamptz; return; end if;
  if l.token is null or l.ended_at is not null then return query select 'lease_lost', null::timestamptz; return; end if;
  select clock_timestamp() + make_interval(secs => case when l.invited then coalesce(c.answer_seconds, q.lease_seconds) else q.lease_seconds end)
    into v_until from queue q where q.kind = 'case' and q.name = i.queue;
  update lease set expires_at = v_until where token = p_token;
  update item set updated_at = clock_timestamp(), wake_at = least(deadline_at, (
           select min(x.expires_at) from lease x where x.kind = 'case' and x.item_id = p_id and x.ended_at is null))
   where kind = 'case' and id = p_id;
  return query select 'done', v_until;
end $function$;

CREATE OR REPLACE FUNCTION public.requires_key(requires text[])
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN COALESCE((SELECT string_agg(s.r, ','::text ORDER BY (s.r COLLATE "C")) AS string_agg FROM (SELECT DISTINCT unnest(requires_key.requires) AS r) s), ''::text);

CREATE OR REPLACE FUNCTION public.return_dispatches(p_id text, p_why text, p_overdue boolean, p_actor text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  l lease;
begin
  for l in
    update lease set ended_at = greatest(p_now, granted_at), why = p_why, ended_by = p_actor
     where kind = 'task' and item_id = p_id and ended_at is null and (not p_overdue or expires_at <= p_now) returning *
  loop
    insert into notice (kind, item_id, queue, person, type, data)
    values ('task', p_id, l.queue, l.holder, 'lease_lost',
            json_build_object('reason', case p_why when 'expired' then 'expired' else 'revoked' end, 'by', p_actor));
    perform keep_occurrence(p_id, 'returned', p_actor,
      json_build_object('logId', l.token, 'person', l.slot, 'uid', l.holder, 'params', l.given, 'reason', p_why), p_now);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.review_record(p_id text, p_seq bigint)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
AS $function$
declare
  v_record jsonb;
  v_edit integer;
  v_old jsonb;
begin
  select seq, before into v_edit, v_record from review_callback
   where review_id = p_id and kind = 'edit' and seq > p_seq order by seq limit 1;
  if not found then select record into v_record from review where id = p_id; end if;
  select jsonb_object_agg(s.kind || '/' || s.target_id, s.old) into v_old from (
    select distinct on (kind, target_id) kind, target_id, jsonb_build_object('status', before, 'auditTime', iso_time(before_time)) as old
      from review_callback
     where review_id = p_id and outcome = 'applied' and seq > p_seq and (v_edit is null or seq < v_edit)
     order by kind, target_id, seq) s;
  if v_old is null then return v_record; end if;
  return jsonb_build_object(
    'text', (v_record -> 'text') || coalesce(v_old -> 'text/', '{}'),
    'pictures', (select coalesce(jsonb_agg(p.one || coalesce(v_old -> ('picture/' || (p.one ->> 'id')), '{}') order by p.n), '[]')
                   from jsonb_array_elements(v_record -> 'pictures') with ordinality as p (one, n)),
    'replies', (select coalesce(jsonb_agg(p.one || coalesce(v_old -> ('reply/' || (p.one ->> 'id')), '{}') order by p.n), '[]')
                  from jsonb_array_elements(v_record -> 'replies') with ordinality as p (one, n)));
end $function$;

CREATE OR REPLACE FUNCTION public.revoke_hold(l lease, p_bar text, p_attempt text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update lease set ended_at = greatest(p_now, granted_at), why = 'revoked', ended_by = 'system'
   where token = l.token and ended_at is null;
  if found then
    perform keep_case(l.item_id, 'refused', l.holder, json_build_object('attempt', p_attempt, 'reason', p_bar), p_now);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.set_rotation(p_id text, p_next timestamp with time zone, p_now timestamp with time zone)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
begin
  if p_next is null then
    return query update item
       set state = 'expired', ended_at = p_now, ended_by = 'system', wake_at = null, version = nextval('item_version'),
           event_seq = event_seq + 1, last_event = 'ended', last_actor = 'system', last_data = null, updated_at = p_now
     where kind = 'rotation' and id = p_id and ended_at is null returning *;
  else
    return query update item set available_at = p_next, wake_at = p_next, updated_at = p_now
     where kind = 'rotation' and id = p_id and ended_at is null returning *;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.settle_idle(p_kinds text[], p_ids text[], p_began timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  update item i set wake_at = item_wake(i.state, i.available_at, i.expires_at, i.deadline_at,
                                        next_escalation(q.escalations, i.first_available_at, i.escalated_seconds))
    from unnest(p_kinds, p_ids) as p (kind, id), queue q
   where i.kind = p.kind and i.id = p.id and i.kind not in ('case', 'task', 'rotation')
     and i.ended_at is null and i.wake_at <= p_began and i.updated_at < p_began
     and q.kind = i.kind and q.name = i.queue;
  perform park_item(i.kind, i.id, 'it is due, and there is nothing to do')
     from unnest(p_kinds, p_ids) as p (kind, id)
     join item i on i.kind = p.kind and i.id = p.id
    where i.wake_at <= p_began and i.updated_at < p_began;
end $function$;

CREATE OR REPLACE FUNCTION public.some_newcomers(c court, p_from double precision, p_limit integer)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_sort TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
begin
  return array(
    select j.person from (
      (select id, person from juror where court = c.name and list = c.list and eligible and invite and dice >= p_from order by dice limit 100)
      union all
      (select id, person from juror where court = c.name and list = c.list and eligible and invite and dice < p_from order by dice limit 100)) j
     where not exists (select from lease l where l.kind = 'case' and l.queue = c.name and l.slot = j.person and l.ended_at is null)
       and (juror_seen(c, j.id, j.person)).newcomer
     limit p_limit);
end $function$;

CREATE OR REPLACE FUNCTION public.speaks_for(c court, p_subject text, l lease)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select p_subject is null or p_subject = l.holder
      or exists (select from juror where court = c.name and list = c.list and id = p_subject and person = l.slot)
$function$;

CREATE OR REPLACE FUNCTION public.task_of(p_item text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select split_part(p_item, '/', 1)
$function$;

CREATE OR REPLACE FUNCTION public.task_prospect(p_person text, p_exclude text[], p_explain boolean, p_now timestamp with time zone)
 RETURNS json
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
AS $function$
declare
  v_queues text[] := array(select executors_of(p_person));
  v_next timestamptz;
  v_reasons json;
  v_rank bigint;
  v_seen xid8;
begin
  if not p_explain then return json_build_object('queues', v_queues); end if;
  select min(i.available_at) into v_next from unnest(v_queues) as e (queue), unnest(array['task', 'rotation']) as k (kind)
   cross join lateral (
     select o.available_at from item o
      where o.queue = e.queue and o.kind = k.kind and o.state = 'delayed'
        and not is_excluded(o.id, p_exclude)
      order by o.available_at limit 1) i;
  select b.since_rank, b.seen into v_rank, v_seen from look_back(p_person) b;
  select json_build_object(
           'excluded', count(*) filter (where s.excluded), 'done', count(*) filter (where not s.excluded and s.had),
           'taken', count(*) filter (where not s.excluded and not s.had and s.room = 0),
           'passed', count(*) filter (where not s.excluded and not s.had and s.room > 0 and s.passed), 'notYet', (
             select count(*) from (select from unnest(v_queues) as e (queue) join item o on o.queue = e.queue
                                    where o.kind in ('task', 'rotation') and o.state = 'delayed' limit 1000) d)) into v_reasons
    from (select i.room, is_excluded(i.id, p_exclude) as excluded, had_task(i, p_person) as had,
                 i.rank < v_rank and (i.stocked_by is null or i.stocked_by < v_seen) as passed
            from unnest(v_queues) as e (queue) join item i on i.queue = e.queue and i.kind = 'task' and i.state = 'ready'
           where i.deadline_at > p_now limit 1000) s;
  return json_build_object('queues', v_queues, 'nextAt', iso_time(v_next), 'reasons', v_reasons);
end $function$;

CREATE OR REPLACE FUNCTION public.task_step(t task)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(t.every_minutes * interval '1 minute', t.every_days * interval '1 day' + interval '1 day')
$function$;

CREATE OR REPLACE FUNCTION public.task_times(t task, p_after timestamp with time zone, p_until timestamp with time zone, p_limit integer)
 RETURNS SETOF timestamp with time zone
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  v_until timestamptz := least(p_until, case when t.type = 'rotate' then t.end_time end);
  v_day date := (t.start_time at time zone t.timezone)::date;
  v_from bigint;
  v_to bigint;
begin
  if t.type = 'once' then
    return query select t.start_time where t.start_time > p_after and t.start_time <= v_until limit p_limit;
  elsif t.every_minutes is not null then
    v_from := greatest(0, floor(extract(epoch from greatest(p_after, t.start_time - interval '1 second') - t.start_time) / (60 * t.every_minutes)) + 1);
    v_to := floor(extract(epoch from v_until - t.start_time) / (60 * t.every_minutes));
    return query
      select s.at from generate_series(v_from, least(v_to, v_from + p_limit - 1)) as k
       cross join lateral (select t.start_time + (k * t.every_minutes) * interval '1 minute' as at) s;
  else
    -- one more on both sides of those reckoned: where a day begins depends on the zone
    v_from := greatest(0, ((greatest(p_after, t.start_time) at time zone t.timezone)::date - v_day) / t.every_days - 1);
    v_to := ((v_until at time zone t.timezone)::date - v_day) / t.every_days + 1;
    return query
      select s.at from generate_series(v_from, least(v_to, v_from + p_limit + 2)) as k
       cross join lateral (
         select local_instant((v_day + (k * t.every_days)::integer) + t.daily_time::time, t.timezone) as at) s
       where s.at > p_after and s.at >= t.start_time and s.at <= v_until
       order by s.at limit p_limit;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.tick_item(p_kind text, p_id text)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
begin
  perform 1 from item where kind = p_kind and id = p_id for update;
  return query select * from advance(array[p_kind], array[p_id]);
end $function$;

CREATE OR REPLACE FUNCTION public.tick_items(p_kind text, p_ids text[])
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
begin
  perform 1 from item where kind = p_kind and id = any (p_ids) order by id for update;
  return query select * from advance_apart(array_fill(p_kind, array[cardinality(p_ids)]), p_ids);
end $function$;

CREATE OR REPLACE FUNCTION public.tick(p_limit integer)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  v_kinds text[];
  v_ids text[];
begin
  -- the scalar subquery bounds the index scan; a bare volatile call would read the whole index
  select array_agg(kind), array_agg(id) into v_kinds, v_ids from (
    select i.kind, i.id from item i
     where i.wake_at <= (select clock_timestamp())
       and not exists (select 1 from parked p where p.kind = i.kind and p.item_id = i.id and p.until > clock_timestamp())
     order by i.wake_at limit p_limit for update skip locked) due;
  if v_ids is null then return; end if;
  return query select * from advance_apart(v_kinds, v_ids);
end $function$;

CREATE OR REPLACE FUNCTION public.times_due(t task, p_now timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  v_from timestamptz := greatest(t.start_time, p_now - make_interval(secs => t.lookback_seconds));
  v_until timestamptz := least(p_now, t.end_time);
begin
  if t.type = 'once' or t.catch_up = 'newest' or v_until < v_from then return 0; end if;
  if t.every_minutes is null then
    return ((v_until at time zone t.timezone)::date - (v_from at time zone t.timezone)::date) / t.every_days + 1;
  end if;
  return floor(extract(epoch from v_until - t.start_time) / (60 * t.every_minutes))
       - ceil(extract(epoch from v_from - t.start_time) / (60 * t.every_minutes)) + 1;
end $function$;

CREATE OR REPLACE FUNCTION public.too_many_due(t task, o task, p_now timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select times_due(t, p_now) > 10000
     and ((t.start_time, t.every_minutes, t.daily_time, t.every_days, t.timezone, t.catch_up) is distinct from
          (o.start_time, o.every_minutes, o.daily_time, o.every_days, o.timezone, o.catch_up)
          or times_due(t, p_now) > times_due(o, p_now))
$function$;

CREATE OR REPLACE FUNCTION public.too_many_rotations(p_queue text, p_but text, p_limit integer)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select count(*) >= p_limit from item where queue = p_queue and kind = 'rotation' and state = 'delayed' and id <> p_but
$function$;

CREATE OR REPLACE FUNCTION public.url_host(url text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN regexp_replace(lower("substring"(url, '^[A-Za-z]+://([^/?#\\]*)'::text)), CASE WHEN (url ~~* 'https:%'::text) THEN ':443$'::text ELSE ':80$'::text END, ''::text);

CREATE OR REPLACE FUNCTION public.void_occurrences(t task, p_kept text[], p_before timestamp with time zone, p_reason text, p_actor text, p_now timestamp with time zone)
 RETURNS SETOF item
 LANGUAGE plpgsql
AS $function$
declare
  v_id text;
  v_unused text[];
  v_used text[];
begin
  select array_agg(s.id) filter (where s.attempts = 0), array_agg(s.id) filter (where s.attempts > 0) into v_unused, v_used from (
    select id, attempts from item
     where kind = 'task' and id > t.id || '/' and id < t.id || '0' and ended_at is null and not closing
       and case when p_before is null then not id = any (p_kept) else available_at < p_before end
     order by id for update) s;
  -- most have never been dispatched, and there may be thousands: they end in one statement
  return query
    update item
       set closing = true, state = 'invalidated', room = null, ended_at = p_now, ended_by = p_actor, end_reason = p_reason,
           wake_at = null, version = nextval('item_version'), event_seq = event_seq + 1, last_event = 'cancelled',
           last_actor = p_actor, last_data = json_build_object('reason', p_reason), updated_at = p_now
     where kind = 'task' and id = any (v_unused) returning *;
  foreach v_id in array coalesce(v_used, '{}') loop
    update item set closing = true where kind = 'task' and id = v_id;
    perform keep_occurrence(v_id, 'cancelled', p_actor, json_build_object('reason', p_reason), p_now);
    return query select * from item where kind = 'task' and id = v_id;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.vote_bar(f case_file, j juror_seen)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select case when not may_judge(f, j) then 'forbidden' else case_bar(f, j) end
$function$;
