-- A queue's counts as of a minute, written where something has changed since the row before (db/functions/samples.sql). What
-- only grows is kept as it is, so that a row in between can go without a loss to what its neighbours say.
create table sample (
  kind          text not null,
  queue         text collate "C" not null,
  at            timestamptz not null,
  delayed       bigint not null,
  ready         bigint not null,
  held          bigint not null,
  buried        bigint not null,
  settled       bigint not null,
  invalidated   bigint not null,
  expired       bigint not null,
  dead          bigint not null,
  granted       bigint not null,
  lease_expired bigint not null,
  votes         bigint not null,
  wasted        bigint not null,
  failed        bigint not null,
  oldest        timestamptz,
  primary key (kind, queue, at)
) with (autovacuum_vacuum_insert_scale_factor = 0.2);
create index sample_at on sample (at);
comment on column sample.queue is 'empty: all queues of the kind together';
comment on column sample.oldest is 'since when the oldest has been waiting; null: none, or all queues together';
comment on column sample.failed is 'deliveries that are given up';

-- Queues whose counts have changed; filled as the tally is summed up.
create table sample_due (
  kind  text not null,
  queue text collate "C" not null,
  since timestamptz not null default clock_timestamp(),
  primary key (kind, queue)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index sample_due_since on sample_due (since);

create table sample_state (
  one           boolean primary key default true check (one),
  began_at      timestamptz not null,
  sampled_at    timestamptz not null,
  thinned_until timestamptz not null
);
comment on column sample_state.began_at is 'nothing is known of what was before';
insert into sample_state (began_at, sampled_at, thinned_until) values (now(), '-infinity', date_trunc('hour', now()));

-- What there is now; what has been handed out is counted from here on.
insert into sample (kind, queue, at, delayed, ready, held, buried, settled, invalidated, expired, dead, granted, lease_expired, votes,
                    wasted, failed)
select kind, coalesce(queue, ''), now(),
       coalesce(sum(n) filter (where what = 'delayed'), 0), coalesce(sum(n) filter (where what = 'ready'), 0),
       coalesce(sum(n) filter (where what = 'held'), 0), coalesce(sum(n) filter (where what = 'buried'), 0),
       coalesce(sum(n) filter (where what = 'settled'), 0), coalesce(sum(n) filter (where what = 'invalidated'), 0),
       coalesce(sum(n) filter (where what = 'expired'), 0), coalesce(sum(n) filter (where what = 'dead'), 0), 0,
       coalesce(sum(n) filter (where what = 'lease_expired'), 0), coalesce(sum(n) filter (where what = 'votes'), 0),
       coalesce(sum(n) filter (where what = 'wasted'), 0), 0
  from tally where kind in ('ticket', 'job', 'case', 'task') group by grouping sets ((kind, queue), (kind));

-- Deliveries that are given up, by queue; from now on log_delivery counts them.
insert into tally (kind, queue, what, n)
select kind, queue, 'delivery_failed', count(*) from delivery where state = 'failed' and queue <> '' group by kind, queue;
