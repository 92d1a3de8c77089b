-- The log is the outbox: workers follow it and publish to the workflows. Nothing is written for that with a transition, and
-- nothing has to be deleted again.

alter table event add column version bigint;
comment on column event.version is 'what its workflow must receive from this line on; null: nothing, or it knows already';

-- Who follows which part of the log, and how far each lane has been published. Only the owner of an epoch moves cursors.
create table log_shard (
  shard      integer primary key,
  owner      text,
  epoch      bigint not null default 0,
  seen_at    timestamptz,
  reviews    bigint not null,
  outcomes   bigint not null,
  rest       bigint not null,
  idle       bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
insert into log_shard (shard, reviews, outcomes, rest, idle)
select shard, arrival, id, id, id
  from generate_series(0, 3) as shard,
       (select coalesce(max(arrival), 0) as arrival from review_callback) r,
       (select coalesce(max(id), 0) as id from event) e;

-- What is to be published though no line of the log says so: what Temporal refused, what other settings changed, what a
-- lost store must receive again.
create table unpublished (
  kind       text not null,
  item_id    text not null collate "C",
  at         timestamptz not null default clock_timestamp(),
  primary key (kind, item_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index unpublished_at on unpublished (at);
insert into unpublished (kind, item_id) select distinct kind, item_id from outbox;

drop table outbox;
alter table node add column follows boolean not null default false;
alter table reconciliation add column epoch bigint not null default 0;

-- What its workflow has to know of an item or a review.
drop view told;
create view driven as
select kind, id, queue, state, version, wake_at, holder, telling, event_seq, last_event, last_actor, updated_at, inviting from item
union all
select 'review', id, '', 'ready', version, null, null, true, log_seq, 'received', 'system', updated_at, false from review;

-- Which jobs of a topic have a workflow.
alter table queue add column workflow text not null default 'always' check (workflow in ('always', 'when-needed'));
