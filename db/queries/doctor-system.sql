-- What `docket doctor` asks of the database itself, and of what waits (services/doctor/). Each reads only what is late,
-- pending or failed, or the server's own views.

-- name: server_facts
select current_setting('server_version') as "version!", current_setting('fsync') as "fsync!",
       current_setting('full_page_writes') as "full_page_writes!",
       current_setting('synchronous_commit') as "synchronous_commit!";

-- name: recorded_edition
select edition, min_compatible from schema_edition;

-- name: present_objects
-- All that the schema consists of but functions, as db/objects.ts names it.
select case c.relkind when 'r' then 'table ' when 'v' then 'view '
                      when 'S' then 'sequence ' else 'index ' end || c.relname as "name!"
  from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v', 'S', 'i')
union all
select 'constraint ' || o.conname from pg_constraint o where o.connamespace = current_schema()::regnamespace
union all
select 'trigger ' || t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid
 where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal;

-- name: broken_objects
-- Leftovers of an interrupted CREATE INDEX, a restore of data only, or manual changes: indexes that are not used,
-- constraints that are not checked, triggers that do not fire; and missing functions of this release.
select 'index ' || c.relname as "id!", 'is not valid' as says from pg_index x join pg_class c on c.oid = x.indexrelid
 where c.relnamespace = current_schema()::regnamespace and not (x.indisvalid and x.indisready)
union all
select 'constraint ' || o.conname, 'is not validated' from pg_constraint o
 where o.connamespace = current_schema()::regnamespace and not o.convalidated
union all
select 'trigger ' || t.tgname, 'is disabled' from pg_trigger t join pg_class c on c.oid = t.tgrelid
 where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal and t.tgenabled not in ('O', 'A')
union all
select 'function ' || f.signature, 'is missing' from schema_function f
 where to_regprocedure(f.signature) is null and f.edition = (select edition from schema_edition);

-- name: overdue_items
-- Items whose wake time passed more than :seconds ago and that no clock has moved, the longest first (item_wake). Items
-- whose transition fails are parked.
select i.kind || '/' || i.id as "id!",
       extract(epoch from clock_timestamp() - i.wake_at)::float8 as "seconds!"
  from item i
 where i.wake_at < (select clock_timestamp()) - make_interval(secs => :seconds::double precision)
   and not exists (select from parked p where p.kind = i.kind and p.item_id = i.id and p.until > clock_timestamp())
 order by i.wake_at limit :limit;

-- name: late_chores
-- Background work that is overdue by :seconds: schedules and deliveries to bring to Temporal, invitations to send,
-- rules and settings to apply.
select r.what || ' ' || r.parent || '/' || r.name as "id!", 'is to be brought to Temporal' as says from resync r
 where r.at < clock_timestamp() - make_interval(secs => :seconds::double precision)
union all
select 'delivery ' || s.kind || '/' || s.item_id || '/' || s.n, 'is to be started'
  from delivery_start s left join delivery d using (kind, item_id, n)
 where coalesce(d.created_at, s.at) < clock_timestamp() - make_interval(secs => :seconds)
union all
select i.kind || '/' || i.id, 'waits for the rules of its queue' from item i
 where i.rules_due_at < clock_timestamp() - make_interval(secs => :seconds) and i.ended_at is null
union all
select q.kind || '/' || q.name, 'has settings that are not applied to all that is open in it' from queue q
 where q.refresh_pending
   and coalesce(q.refresh_taken_at, q.updated_at) < clock_timestamp() - make_interval(secs => :seconds + 600)
 limit :limit;

-- name: stuck_receivers
-- Hosts with deliveries that have failed :attempts times or more and are still retried (delivery_pending).
select coalesce(d.host, d.url) as "id!", count(*)::integer as "n!",
       extract(epoch from clock_timestamp() - min(d.created_at))::float8 as "seconds!",
       coalesce(max(d.status)::text, max(d.error), 'no answer') as "last!"
  from delivery d where d.state = 'pending' and d.attempts - d.attempts_before >= :attempts::integer
 group by 1 order by 2 desc limit :limit;

-- name: dead_letters
-- What nothing happens to any more unless someone wants it, by queue: of the tally.
select s.kind || '/' || s.queue as "id!", sum(s.n)::bigint as "n!",
       string_agg(s.n || case s.what when 'buried' then ' buried' when 'dead' then ' dead' else ' undelivered' end,
                  ', ' order by s.what) as says
  from (
    select case when t.kind = 'delivery' then t.queue else t.kind end as kind,
           case when t.kind = 'delivery' then '' else t.queue end as queue,
           t.what, sum(t.n)::bigint as n
      from tally t
     where t.what in ('buried', 'dead', 'delivery_failed') and t.kind not like 'counted/%'
        or t.kind = 'delivery' and t.queue = 'review' and t.what = 'failed'
     group by 1, 2, 3 having sum(t.n) > 0) s
 group by s.kind, s.queue order by 2 desc limit :limit;

-- name: reconciling
select store as "store!", stage, started_at from reconciliation;
