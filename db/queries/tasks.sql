-- Tasks: what clients pull (S4). What changes them is in db/functions/task-commands.sql, rotations.sql, tasks.sql
-- and dispatches.sql.

-- name: add_template
insert into task_template (id, name, params, content_hash) values (:id, :name, :params::json, decode(:hash, 'hex'))
on conflict (id) do nothing returning *;

-- name: get_template
select * from task_template where id = :id;

-- name: template_version
-- The parameters that a template had in a version; null: as it is.
select coalesce(v.version, t.version) as "version!", coalesce(v.params, t.params) as "params!"
  from task_template t left join task_template_version v on v.template_id = t.id and v.version = :version?::integer
 where t.id = :id;

-- name: list_templates
-- bytes: params
select * from task_template where :before?::bigint is null or seq < :before order by seq desc limit :limit;

-- name: put_group
insert into task_group as g (id, given_as) values (:id, :givenAs)
on conflict (id) do update set updated_at = clock_timestamp() returning *;

-- name: put_members
-- :persons and :givenAs, their names as sent, are both distinct. :only: all other members are removed.
with gone as (
  delete from member where :only and group_id = :id and not person = any (:persons::text[])
)
insert into member (person, group_id, given_as, joined_by)
select s.person, :id, s.given_as, pg_current_xact_id()
  from unnest(:persons::text[], :givenAs::text[]) as s (person, given_as)
    on conflict (person, group_id) do update set given_as = excluded.given_as;

-- name: remove_members
delete from member where group_id = :id and person = any (:persons::text[]);

-- name: get_group
select g.*, array(select m.given_as from member m where m.group_id = g.id order by m.person) as "members!"
  from task_group g where g.id = :id;

-- name: count_members
-- Under the lock that put_group has taken, after every change of members.
update task_group g set size = (select count(*) from member m where m.group_id = g.id) where g.id = :id;

-- name: list_groups
-- Without their members: a group may have 100,000.
select * from task_group where :before?::bigint is null or seq < :before order by seq desc limit :limit;

-- name: add_task :moves
select r.outcome as "outcome!", (r.item).* from add_task(:task::json, :maxRotations, :actor) r;

-- name: change_task :moves
select r.outcome as "outcome!", (r.item).* from change_task(:id, :task::json, :revision, :maxRotations, :actor) r;

-- name: delete_task :moves
select r.outcome as "outcome!", (r.item).* from delete_task(:id, :reason?, :actor) r;

-- name: get_task
select * from task where id = :id;

-- name: list_tasks
-- Tasks with a time between :from and :to, oldest start first; (:afterStart, :afterSeq) is start and number of the last
-- row of the page before. :queue?: of one executor; :person?: of a user and its groups, each read from its index.
-- bytes: params
select t.* from (
  select :queue?::text as queue where :person?::text is null
  union all select e.queue from executors_of(:person) e where :person is not null) e
 cross join lateral (
   select * from task
    where (:queue is null and :person is null or queue = e.queue) and state = :state
      and (:to?::timestamptz is null or start_time < :to)
      and case type when 'once' then start_time >= :from::timestamptz
                    else end_time is null or end_time >= :from::timestamptz end
      and (:afterStart?::timestamptz is null or (start_time, seq) > (:afterStart, :afterSeq?::bigint))
    order by start_time, seq limit :limit) t
 order by t.start_time, t.seq limit :limit;

-- name: has_group
select exists (select from task_group where id = :id) as "known!";

-- name: task_occurrences
-- A task's occurrences from :from until before :to, the first :limit, those made with what has become of them. One that
-- retention clears after :keptDays? is not shown as if it were to come.
select s.at, s.at <= t.made_until as "made!", i.state, i.capacity, t.dispatch_times as "dispatch_times!",
       (select count(*)::integer from lease l
         where l.kind = 'task' and l.item_id = i.id and l.ended_at is null) as "live!",
       (select count(*)::integer from lease l
         where l.kind = 'task' and l.item_id = i.id and l.why = 'settled') as "completed!",
       i.capacity > 0 and t.dispatch = 'each-once' and exists (
         select from lease l where l.kind = 'task' and l.item_id = i.id and l.why in ('released', 'revoked'))
         and not exists (
           select from (
             select person from member where i.queue like 'gid%' and group_id = substr(i.queue, 5)
             union all select substr(i.queue, 5) where i.queue like 'uid%') p
            where not exists (
              select from lease l where l.kind = 'task' and l.item_id = i.id and l.slot = p.person)) as "returned!"
  from task t
 cross join lateral (
   select case when :keptDays?::double precision is not null
               then least(t.made_until, clock_timestamp() - make_interval(secs => 86400 * :keptDays)) end as since) kept
 cross join lateral (
   select at from task_times(t, greatest(:from::timestamptz - interval '1 microsecond', kept.since),
                             :to::timestamptz - interval '1 microsecond', :limit) as "at!"
    where t.state = 'active'
   union
   -- what was made before its task changed
   select available_at from item where kind = 'task' and id > t.id || '/' and id < t.id || '0'
      and available_at >= :from and available_at < :to) s
  left join item i on i.kind = 'task' and i.id = t.id || '/' || iso_time(s.at)
 where t.id = :id
 order by s.at limit :limit;

-- name: next_tasks :moves
select r.person, r.outcome, r.log_id, r.given, (r.item).* from next_tasks(:pulls::json) r;

-- name: explain_user
select task_prospect(:person, '{}', true, clock_timestamp()) -> 'reasons' as "reasons!";

-- name: was_dispatched
select from lease where kind = 'task' and slot = :person and item_id > :id || '/' and item_id < :id || '0' limit 1;

-- name: complete_tasks :moves
select r.token, r.outcome, r.completed_at, r.current, (r.item).* from complete_tasks(:completions::json) r;

-- name: given_after
-- Whether what a client was given first after this dispatch is unfinished; no row: it was given nothing.
select coalesce(l.ended_at is null and coalesce(l.expires_at > clock_timestamp(), true), false) as "open!"
  from lease o cross join given_after(o.slot, o.granted_at) g left join lease l on l.token = g
 where o.token = :token;

-- name: release_task :moves
select r.outcome as "outcome!", r.log_id, r.released_at, r.current, (r.item).*
  from release_task(:person, :token?, :comment?, :actor) r;

-- name: dispatch_log
-- Oldest first: of all, of one user or of one task. (:afterMicros, :afterItem, :afterSeq) is the position of the last
-- line of the page before.
-- bytes: data
select e.item_id, e.seq, e.type, e.at, (extract(epoch from e.at) * 1000000)::bigint as "micros!", e.data as "data!"
  from event e
 where e.kind = 'task' and e.type in ('dispatched', 'completed', 'returned')
   and (:person?::text is null or e.data ->> 'person' = :person)
   and (:taskId?::text is null or e.item_id > :taskId || '/' and e.item_id < :taskId || '0')
   and e.at >= :from::timestamptz
   and (:afterMicros?::bigint is null or (e.at, e.item_id, e.seq)
        > (timestamptz 'epoch' + :afterMicros::bigint * interval '1 microsecond', :afterItem?, :afterSeq?::integer))
 order by e.at, e.item_id, e.seq limit :limit;

-- name: completions_of
-- The newest hundred completions of an occurrence, oldest first; only the last one has its result, which bounds the
-- message.
select e.data ->> 'uid' as "uid!", e.data ->> 'logId' as "logId!", iso_time(e.at) as "completedAt!",
       case when e.newest = 1 then e.data -> 'result' end as result
  from (select c.*, row_number() over (order by c.seq desc) as newest from event c
         where c.kind = 'task' and c.item_id = :id and c.type = 'completed' order by c.seq desc limit 100) e
 order by e.seq;
