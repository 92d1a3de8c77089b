-- Courts: their settings, jurors, gold and statistics (S2).

-- name: replace_settings
-- Waits for what is just being decided by the settings of before; nothing is decided until the new ones are there.
select pg_advisory_xact_lock(person_key('court settings', $1, ''));

-- name: put_court
-- Replaces all settings. refresh_pending says that open cases must be judged anew; it stays true until that is
-- done, also over a crash. $2 queue settings, $3 court settings, as rows of those tables.
with q as (
  insert into queue as q (kind, name, lease_seconds, deadline_seconds, callback)
  select 'case', $1, s.lease_seconds, s.deadline_seconds, s.callback
    from jsonb_to_record($2::jsonb) as s (lease_seconds double precision, deadline_seconds double precision, callback jsonb)
  on conflict (kind, name) do update
     set lease_seconds = excluded.lease_seconds, deadline_seconds = excluded.deadline_seconds, callback = excluded.callback,
         settings_version = nextval('item_version'), updated_at = clock_timestamp(), refresh_pending = true
  returning *
), c as (
  insert into court as c select (jsonb_populate_record(null::court, $3::jsonb || jsonb_build_object('name', $1::text, 'list', 0))).*
  on conflict (name) do update
     set (options, votes_to_win, panel, overbook, window_cases, window_seconds, votes_per_day, mode, assign_jurors, answer_seconds,
          invites_per_day, record_late, quality, fallback, gold_share, admit, pick, decide, around, bar_agreement, bar_after, bar_newcomers,
          invitation_callback)
       = (excluded.options, excluded.votes_to_win, excluded.panel, excluded.overbook, excluded.window_cases, excluded.window_seconds,
          excluded.votes_per_day, excluded.mode, excluded.assign_jurors, excluded.answer_seconds, excluded.invites_per_day,
          excluded.record_late, excluded.quality, excluded.fallback, excluded.gold_share, excluded.admit, excluded.pick,
          excluded.decide, excluded.around, excluded.bar_agreement, excluded.bar_after, excluded.bar_newcomers,
          excluded.invitation_callback)
  returning *
)
select c.*, q.lease_seconds, q.deadline_seconds, q.callback, q.settings_version, q.refresh_pending, q.created_at, q.updated_at, q.seq
  from c, q;

-- name: get_court
select c.*, q.lease_seconds, q.deadline_seconds, q.callback, q.settings_version, q.refresh_pending, q.created_at, q.updated_at, q.seq
  from court c join queue q on q.kind = 'case' and q.name = c.name
 where c.name = $1;

-- name: list_courts
-- bytes: options
select c.*, q.lease_seconds, q.deadline_seconds, q.callback, q.settings_version, q.refresh_pending, q.created_at, q.updated_at, q.seq
  from queue q join court c on c.name = q.name
 where q.kind = 'case' and ($1::bigint is null or q.seq < $1) order by q.seq desc limit $2;

-- name: open_cases
-- not null: created_at, tally
-- A batch of a court's open cases with their counted votes, of which gold has none, in the order of creation.
select i.id, i.created_at::text as created_at, i.seq, case when f.gold is null then f.tally else '{}' end as tally, f.votes, f.stage
  from item i join case_file f on f.id = i.id
 where i.kind = 'case' and i.queue = $1 and i.ended_at is null
   and (i.created_at, i.seq) > ($2::timestamptz, $3::bigint)
 order by i.created_at, i.seq limit $4;

-- name: rejudge_cases
-- moves
-- not null: id
select * from rejudge_cases($1, $2, $3) as id;

-- name: put_jurors
-- Into the list that counts, or into one that doesn't show yet ($3). In the order of ids, so that two calls
-- cannot deadlock; the last of several with one id counts.
insert into juror as j (court, list, id, person, eligible, invite)
select $1, $3, s.id, coalesce(s.person, s.id), s.eligible, s.invite from (
  select distinct on (x.id) x.* from json_to_recordset($2::json) as x (no integer, id text, person text, eligible boolean, invite boolean)
   order by x.id, x.no desc) s
 order by s.id
on conflict (court, list, id) do update set person = excluded.person, eligible = excluded.eligible, invite = excluded.invite;

-- name: open_list
-- The number of a list that is being uploaded. It is a new one with the first chunk ($3), and when none has come for
-- an hour: an upload that was given up must not get into the next one of its name.
insert into juror_list as l (court, name, list) values ($1, $2, nextval('juror_list_number'))
on conflict (court, name) do update
   set list = case when $3 or l.at < clock_timestamp() - interval '1 hour' then excluded.list else l.list end, at = clock_timestamp()
returning list;

-- name: swap_list
-- The whole list counts from now on, in one step (S2.3).
with l as (delete from juror_list where court = $1 and name = $2 returning list)
update court c set list = l.list from l where c.name = $1 returning c.list;

-- name: forget_lists
-- Rows of lists that neither count nor are being filled.
delete from juror j where j.court = $1 and j.list <> (select list from court where name = $1)
   and not exists (select from juror_list l where l.court = j.court and l.list = j.list);

-- name: free_jurors
select free_jurors($1, $2);

-- name: newly_invitable
-- not null: person
-- Whoever may be invited by these rows ($2, as in put_jurors) and may not be by the list ($3), up to $4 persons.
select distinct s.person from (
  select coalesce(x.person, x.id) as person, x.id from json_to_recordset($2::json) as x (id text, person text, eligible boolean, invite boolean)
   where x.eligible and x.invite) s
 where not exists (select from juror j where j.court = $1 and j.list = $3 and j.id = s.id and j.eligible and j.invite)
 limit $4;

-- name: list_difference
-- The persons who may be invited by list $3 and may not be by list $2, up to $4 of them.
select distinct n.person from juror n
 where n.court = $1 and n.list = $3 and n.eligible and n.invite
   and not exists (select from juror j where j.court = $1 and j.list = $2 and j.person = n.person and j.eligible and j.invite)
 limit $4;

-- name: freed_jurors
select seq from freed_juror where person is not null order by seq limit $1;

-- name: invite_freed
-- moves
-- not null: id
select invite_freed($1, $2) as id;

-- name: take_freed_courts
-- not null: seq
with taken as (
  update freed_juror set taken_at = clock_timestamp()
   where person is null and (taken_at is null or taken_at < clock_timestamp() - interval '30 seconds')
  returning court, seq)
select court, max(seq) as seq from taken group by court;

-- name: freed_court_done
delete from freed_juror where court = $1 and person is null and seq <= $2;

-- name: inviting_cases
-- not null: rank
select id, rank::text as rank, seq from item
 where kind = 'case' and queue = $1 and inviting and ($2::bigint is null or (rank, seq) > ($2::bigint, $3::bigint))
 order by rank, seq limit $4;

-- name: count_jurors
-- not null: n
select count(*)::integer as n from juror where court = $1 and list = $2;

-- name: gold_of
select i.id, i.ended_at from case_file f join item i on i.kind = 'case' and i.id = f.id where f.court = $1 and f.gold is not null;

-- name: change_gold
-- moves
with x as materialized (select * from json_to_recordset($2::json) as x (id text, gold text, body json)),
bodies as (
  update item i set body = coalesce(x.body, 'null'), updated_at = clock_timestamp() from x join case_file f on f.id = x.id
   where i.kind = 'case' and i.id = x.id and f.court = $1 and f.gold is not null)
update case_file f set gold = x.gold from x where f.id = x.id and f.court = $1 and f.gold is not null;

-- name: court_stats
-- not null: counts, gold, votes_last_hour, wasted_last_hour
select
  (select coalesce(json_object_agg(what, n), '{}') from (
     select what, sum(n) as n from tally where kind = 'case' and queue = $1 group by what having sum(n) <> 0) t) as counts,
  (select coalesce(json_object_agg(state, n), '{}') from (
     select i.state, count(*)::integer as n from case_file f join item i on i.kind = 'case' and i.id = f.id
      where f.court = $1 and f.gold is not null group by i.state) g) as gold,
  (select count(*)::integer from vote where court = $1 and at > (select clock_timestamp()) - interval '1 hour' and counted and not gold) as votes_last_hour,
  (select count(*)::integer from lease where kind = 'case' and queue = $1 and refused_at > (select clock_timestamp()) - interval '1 hour') as wasted_last_hour;
