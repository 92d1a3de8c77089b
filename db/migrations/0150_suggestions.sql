-- Models beside people: what models suggest for tickets, and when suggestions are shown or decide.
alter table queue add column assist jsonb;
comment on column queue.assist is 'mode, minConfidence, share; null: models have never had a part in it';
create index queue_assist on queue (name) where assist is not null;

create table suggestion (
  item_id         text collate "C" not null,
  model           text collate "C" not null,
  queue           text collate "C" not null,
  mode            text collate "C" not null check (mode in ('off', 'shadow', 'suggest', 'auto')),
  decision        json,
  confidence      double precision not null check (confidence between 0 and 1),
  reasons         json,
  hash            bytea not null,
  form_version    bigint,
  content_version bigint,
  decides         boolean not null,
  shown_to        text[] collate "C" not null default '{}',
  seq             bigint generated always as identity,
  at              timestamptz not null default clock_timestamp(),
  primary key (item_id, model)
);
create index suggestion_deciding on suggestion (queue, confidence) where decides;
comment on table suggestion is 'what models suggest for tickets, one of each model; without a decision: erased';
comment on column suggestion.queue is 'in which it came; only there it is shown and decides';
comment on column suggestion.mode is 'of the queue when it came';
comment on column suggestion.form_version is 'settings version whose form it was checked against; null: none';
comment on column suggestion.content_version is 'of the ticket when it came; made of other content it is not used';
comment on column suggestion.decides is 'it came in mode auto, and is not known to miss the form or be late';

alter table item add column automation text collate "C";
comment on column item.automation is 'tickets: partial or full; null: decided by a person alone, or not by a lease';

alter table api_key
  drop constraint api_key_role_check,
  add constraint api_key_role_check
    check (role in ('producer', 'reviewer', 'agent', 'consumer', 'supervisor', 'model', 'admin')),
  add constraint api_key_model_has_subject check (role <> 'model' or subject is not null);
