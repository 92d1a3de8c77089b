-- Reconciliation with Temporal (db/functions/reconcile.sql).

-- name: notice_store
-- A store that differs from the last one knows none of our workflows: a pass begins. `first`: there was none before. A
-- server that was failed over to one that lacks the latest commits assigns their numbers again: followers that have
-- read these restart from where the log ended a minute ago, because a number drawn since then may be committed late.
-- The pass covers the time before.
with noticed as (
  insert into reconciliation as r (store, stage) values (:store, 'schedules')
  on conflict (one) do update
     set store = excluded.store, stage = 'schedules', after_kind = '', after_id = '', after_n = 0,
         started_at = clock_timestamp(), finished_at = null, epoch = r.epoch + 1
   where r.store <> excluded.store
  returning xmax = 0 as "first!"
), anew as (
  update log_shard s
     set epoch = s.epoch + 1, reviews = least(s.reviews, l.reviews), outcomes = least(s.outcomes, l.log),
         rest = least(s.rest, l.log), idle = least(s.idle, l.log)
    from noticed n, (
      select coalesce((select id from event where at < clock_timestamp() - interval '1 minute'
                        order by id desc limit 1), 0) as log,
             coalesce((select arrival from review_callback where received_at < clock_timestamp() - interval '1 minute'
                        order by arrival desc limit 1), 0) as reviews) l
   where not n.first
)
select first from noticed;

-- name: restart_reconciliation
insert into reconciliation (store, stage) values ('', 'schedules')
on conflict (one) do update
   set stage = 'schedules', after_kind = '', after_id = '', after_n = 0,
       started_at = clock_timestamp(), finished_at = null,
       epoch = reconciliation.epoch + 1;

-- name: is_reconciled
-- `timeline`: another one means that the server was restored to an older state, or failed over to one.
select not exists (select from reconciliation where stage is not null) as "done!",
       (select timeline_id from pg_control_checkpoint()) as "timeline!";

-- name: mark_resync
insert into resync (what, parent, name) values (:what, :parent, :name) returning id;

-- name: unmark_resync
delete from resync where id = any (:ids::bigint[]);

-- name: take_resync
-- Rows that no process has taken up for 30 s. A process that dies with them leaves them to others.
update resync r set at = clock_timestamp()
 where r.id in (select id from resync where at < (select clock_timestamp()) - interval '30 seconds'
                 order by at limit :limit for update skip locked)
returning r.id, r.what, r.parent, r.name, r.n;

-- name: lock_schedule
-- One at a time changes a schedule here and in Temporal, even one that has no row.
select pg_advisory_xact_lock(7236020, hashtext(:topic || '/' || :name));

-- name: schedule_to_sync
-- With the range in which firings may have been missed: an hour, sixty intervals at most, and none before its last
-- change.
select s.*,
       greatest(s.updated_at, clock_timestamp()
         - least(interval '1 hour', make_interval(secs => 60 * s.every_seconds))) as "missed_from!",
       clock_timestamp() as "missed_to!"
  from schedule s where topic = :topic and name = :name;

-- name: resync_count
select count(*)::integer as "n!" from resync;
