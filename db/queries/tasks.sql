-- Tasks: what clients pull (S4). What changes them is in db/functions/taskbook.sql, rotations.sql, tasks.sql and dispatches.sql.

-- name: add_template
insert into task_template (id, name, params, content_hash) values ($1, $2, $3, decode($4, 'hex'))
on conflict (id) do nothing returning *;

-- name: get_template
select * from task_template where id = $1;

-- name: delete_template
-- not null: outcome
select delete_template($1) as outcome;

-- name: list_templates
-- bytes: params
select * from task_template where $1::bigint is null or seq < $1 order by seq desc limit $2;

-- name: put_group
insert into task_group as g (id, given_as) values ($1, $2)
on conflict (id) do update set updated_at = clock_timestamp() returning *;

-- name: put_members
-- $1 group, $2 persons and $3 their names as sent, both distinct; $4: nobody else is a member.
with gone as (
  delete from member where $4 and group_id = $1 and not person = any ($2::text[])
)
insert into member (person, group_id, given_as)
select s.person, $1, s.given_as from unnest($2::text[], $3::text[]) as s (person, given_as)
    on conflict (person, group_id) do update set given_as = excluded.given_as;

-- name: remove_members
delete from member where group_id = $1 and person = any ($2::text[]);

-- name: get_group
-- not null: members
select g.*, array(select m.given_as from member m where m.group_id = g.id order by m.person) as members
  from task_group g where g.id = $1;

-- name: count_members
-- Under the lock that put_group has taken, after every change of members.
update task_group g set size = (select count(*) from member m where m.group_id = g.id) where g.id = $1;

-- name: list_groups
-- Without their members, of whom each may have 100,000.
select * from task_group where $1::bigint is null or seq < $1 order by seq desc limit $2;

-- name: is_zone
-- not null: known
select is_zone($1) as known;

-- name: add_task
-- moves
-- not null: outcome
select r.outcome, (r.item).* from add_task($1, $2, $3) r;

-- name: change_task
-- moves
-- not null: outcome
select r.outcome, (r.item).* from change_task($1, $2, $3, $4, $5) r;

-- name: delete_task
-- moves
-- not null: outcome
select r.outcome, (r.item).* from delete_task($1, $2, $3) r;

-- name: cancel_occurrence
-- moves
select * from cancel_occurrence($1, $2, $3);

-- name: get_task
select * from task where id = $1;

-- name: list_tasks
-- Oldest start first: those that have to do with the time from $3 to $4, and a state or null; ($5, $6) is start and
-- number of the last row before.
-- bytes: params
select * from task
 where ($1::text is null or queue = $1) and ($2::text is null or state = $2)
   and ($4::timestamptz is null or start_time < $4)
   and case type when 'once' then start_time >= $3::timestamptz else end_time is null or end_time >= $3::timestamptz end
   and ($5::timestamptz is null or (start_time, seq) > ($5, $6::bigint))
 order by start_time, seq limit $7;

-- name: list_tasks_of
-- The same of a user, $8, and its groups, each one's oldest from its own index.
-- bytes: params
select t.* from (select $1::text as queue union select 'gid_' || group_id from member where person = $8) e
 cross join lateral (
   select * from task
    where queue = e.queue and ($2::text is null or state = $2)
      and ($4::timestamptz is null or start_time < $4)
      and case type when 'once' then start_time >= $3::timestamptz else end_time is null or end_time >= $3::timestamptz end
      and ($5::timestamptz is null or (start_time, seq) > ($5, $6::bigint))
    order by start_time, seq limit $7) t
 order by t.start_time, t.seq limit $7;

-- name: has_group
-- not null: known
select exists (select from task_group where id = $1) as known;

-- name: task_occurrences
-- not null: at, dispatch_times, live, completed
-- A task's occurrences from $2 until before $3, the first $4, those made with what has become of them.
select s.at, i.state, i.room, t.dispatch_times,
       (select count(*)::integer from lease l where l.kind = 'task' and l.item_id = i.id and l.ended_at is null) as live,
       (select count(*)::integer from lease l where l.kind = 'task' and l.item_id = i.id and l.why = 'settled') as completed
  from task t
 cross join lateral (
   select at from task_times(t, $2::timestamptz - interval '1 microsecond', $3::timestamptz - interval '1 microsecond', $4) as at
    where t.state = 'active'
   union
   -- what was made before its task changed
   select available_at from item where kind = 'task' and id > t.id || '/' and id < t.id || '0'
      and available_at >= $2 and available_at < $3) s
  left join item i on i.kind = 'task' and i.id = t.id || '/' || iso_time(s.at)
 where t.id = $1
 order by s.at limit $4;

-- name: next_tasks
-- moves
select r.person, r.outcome, r.log_id, r.given, (r.item).* from next_tasks($1) r;

-- name: complete_tasks
-- moves
select r.token, r.outcome, r.completed_at, r.current, (r.item).* from complete_tasks($1) r;

-- name: dispatch_log
-- not null: place, data
-- Oldest first: of all, or of one task. ($3, $4, $5) is the place of the last line before.
-- bytes: data
select e.item_id, e.seq, e.type, e.at, (extract(epoch from e.at) * 1000000)::bigint as place, e.data from event e
 where e.kind = 'task' and e.type in ('dispatched', 'completed', 'returned')
   and ($1::text is null or e.item_id > $1 || '/' and e.item_id < $1 || '0') and e.at >= $2::timestamptz
   and ($3::bigint is null or (e.at, e.item_id, e.seq) > (timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4, $5::integer))
 order by e.at, e.item_id, e.seq limit $6;

-- name: dispatch_log_of_user
-- not null: place, data
-- The same of one user, $7.
-- bytes: data
select e.item_id, e.seq, e.type, e.at, (extract(epoch from e.at) * 1000000)::bigint as place, e.data from event e
 where e.kind = 'task' and e.type in ('dispatched', 'completed', 'returned') and e.data ->> 'person' = $7
   and ($1::text is null or e.item_id > $1 || '/' and e.item_id < $1 || '0') and e.at >= $2::timestamptz
   and ($3::bigint is null or (e.at, e.item_id, e.seq) > (timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4, $5::integer))
 order by e.at, e.item_id, e.seq limit $6;

-- name: completions_of
-- not null: uid, logId, completedAt
-- The newest completions of an occurrence, oldest first; only the last one with its result, so that a message is bounded.
select e.data ->> 'uid' as uid, e.data ->> 'logId' as "logId", iso_time(e.at) as "completedAt",
       case when e.newest = 1 then e.data -> 'result' end as result
  from (select c.*, row_number() over (order by c.seq desc) as newest from event c
         where c.kind = 'task' and c.item_id = $1 and c.type = 'completed' order by c.seq desc limit $2) e
 order by e.seq;

-- name: forget_tasks
-- moves
-- not null: n
select forget_tasks(clock_timestamp() - make_interval(days => $1), 1000) as n;
