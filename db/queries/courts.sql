-- Courts: their settings, jurors, gold and statistics (S2).

-- columns: court_settings
options, votes_to_win, panel, overbook, window_cases, window_seconds, votes_per_day, mode, assign_jurors,
answer_seconds, invites_per_day, record_late, quality, fallback, gold_share, admit, pick, decide, random_start,
bar_agreement, bar_after, bar_newcomers, invitation_callback, timezone, invites_open, margin, probability, max_votes,
by_records

-- columns: of_its_queue
-- What a court's row in `queue` holds.
lease_seconds, deadline_seconds, callback, settings_version, refresh_pending, created_at, updated_at, seq

-- name: replace_settings
-- Waits for transactions that decide by the old settings; nothing is decided until the new ones are committed.
select pg_advisory_xact_lock(person_key('court settings', :court, ''));

-- name: put_court
-- Replaces all settings. refresh_pending says that open cases must be judged anew; it stays true until that is
-- done, also after a crash. :queue and :court are the settings as rows of those tables.
with q as (
  insert into queue as q (kind, name, lease_seconds, deadline_seconds, callback)
  select 'case', :name, s.lease_seconds, s.deadline_seconds, s.callback
    from jsonb_to_record(:queue::jsonb)
           as s (lease_seconds double precision, deadline_seconds double precision, callback jsonb)
  on conflict (kind, name) do update
     set lease_seconds = excluded.lease_seconds, deadline_seconds = excluded.deadline_seconds,
         callback = excluded.callback, deleted_at = null,
         created_at = case when q.deleted_at is null then q.created_at else excluded.created_at end,
         settings_version = nextval('item_version'), updated_at = clock_timestamp(), refresh_pending = true
  returning *
), c as (
  insert into court as c
  select (jsonb_populate_record(null::court,
                                :court::jsonb || jsonb_build_object('name', :name::text, 'list', 0))).*
  on conflict (name) do update set ({court_settings}) = ({excluded.court_settings})
  returning *
)
select c.*, {q.of_its_queue} from c, q;

-- name: get_court
-- :deleted: also one that has been deleted, by whose settings its final cases are shown and delivered
select c.*, {q.of_its_queue} from court c join queue q on q.kind = 'case' and q.name = c.name
 where c.name = :name and (:deleted::boolean or is_there(q));

-- name: list_courts
-- bytes: options
select c.*, {q.of_its_queue} from queue q join court c on c.name = q.name
 where q.kind = 'case' and (:before?::bigint is null or q.seq < :before) and is_there(q)
 order by q.seq desc limit :limit;

-- name: cases_with_removed_options
-- Open cases with votes for options that are not among :options, the oldest first, up to :limit of them. Votes for
-- options that had been removed before do not matter any more.
select i.id from court c join item i on i.kind = 'case' and i.queue = c.name and i.state = 'ready'
  join case_file f on f.id = i.id and f.gold is null
 where c.name = :court
   and f.tally ?| array(select o from unnest(c.options) as o where o <> all (:options::text[]))
 order by i.created_at, i.seq limit :limit;

-- name: open_cases
-- A batch of a court's open cases with their counted votes, of which gold has none, in the order of creation.
-- :ballots: each vote with its voter's record, too.
select i.id, i.created_at::text as "created_at!", i.seq,
       case when f.gold is null then f.tally else '{}' end as "tally!", f.votes, f.stage,
       f.votes_left, case when :ballots::boolean then ballots(f, null) end as ballots
  from item i join case_file f on f.id = i.id
 where i.kind = 'case' and i.queue = :court and i.state = 'ready'
   and (i.created_at, i.seq) > (:afterCreatedAt::timestamptz, :afterSeq::bigint)
 order by i.created_at, i.seq limit :limit;

-- name: put_jurors
-- Into the list that counts, or into one that does not count yet (:list). In the order of ids, so that two calls
-- cannot deadlock; no id may be there twice.
insert into juror (court, list, id, person, eligible, invite)
select :court, :list, x.id, coalesce(x.person, x.id), x.eligible, x.invite
  from json_to_recordset(:jurors::json) as x (id text, person text, eligible boolean, invite boolean)
 order by x.id
on conflict (court, list, id) do update
   set person = excluded.person, eligible = excluded.eligible, invite = excluded.invite;

-- name: open_list
-- The number of a list that is being uploaded. The list gets a new number with the first chunk (:first), after a
-- finished upload, and when no chunk has come for an hour: an abandoned upload must not get into the next one.
-- No row: the last chunk of an upload in several was sent again, as after a lost response. Alone it would replace the
-- whole list. An upload in one chunk may be sent again: it contains the whole list.
insert into juror_list as l (court, name, list, in_parts)
values (:court, :name, nextval('juror_list_number'), not :final)
on conflict (court, name) do update
   set (list, in_parts) = (
         select case when s.anew then excluded.list else l.list end, excluded.in_parts or (l.in_parts and not s.anew)
           from (select :first or l.final_hash is not null or l.at < clock_timestamp() - interval '1 hour' as anew) s),
       final_hash = null, at = clock_timestamp()
 where :first or not :final or l.final_hash is distinct from decode(:hash, 'hex') or not l.in_parts
    or l.at < clock_timestamp() - interval '24 hours'
returning list;

-- name: swap_list
-- The whole list counts from now on, in one step (S2.3).
with l as (update juror_list set final_hash = decode(:hash, 'hex')
            where court = :court and name = :name and list = :list and final_hash is null returning list)
update court c set list = l.list from l where c.name = :court returning c.list;

-- name: forget_lists
-- Deletes rows of lists that neither count nor are being uploaded.
delete from juror j where j.court = :court and j.list <> (select list from court where name = :court)
   and not exists (select from juror_list l where l.court = j.court and l.list = j.list and l.final_hash is null);

-- name: newly_invitable
-- Up to :limit persons who may be invited by these rows (:jurors, as in put_jurors) but not by the list (:list).
select distinct s.person from (
  select coalesce(x.person, x.id) as "person!", x.id
    from json_to_recordset(:jurors::json) as x (id text, person text, eligible boolean, invite boolean)
   where x.eligible and x.invite) s
 where not exists (
   select from juror j where j.court = :court and j.list = :list and j.id = s.id and j.eligible and j.invite)
 limit :limit;

-- name: list_difference
-- Persons who may be invited by the list :now but not by the list :before, up to :limit of them.
select distinct n.person from juror n
 where n.court = :court and n.list = :now and n.eligible and n.invite
   and not exists (
     select from juror j
      where j.court = :court and j.list = :before and j.person = n.person and j.eligible and j.invite)
 limit :limit;

-- name: freed_jurors
select seq from freed_juror where person is not null order by seq limit :limit;

-- name: take_freed_courts
with taken as (
  update freed_juror set taken_at = clock_timestamp()
   where person is null and (taken_at is null or taken_at < clock_timestamp() - interval '30 seconds')
  returning court, seq)
select court, max(seq) as "seq!" from taken group by court;

-- name: freed_court_done
delete from freed_juror where court = :court and person is null and seq <= :seq;

-- name: inviting_cases
select id, rank::text as "rank!", seq from item
 where kind = 'case' and queue = :court and lacks_jurors
   and (:afterRank?::text is null or (rank, seq) > (:afterRank::text::bigint, :afterSeq?::bigint))
 order by rank, seq limit :limit;

-- name: count_jurors
select count(*)::integer as "n!" from juror where court = :court and list = :list;

-- name: gold_of
select i.id, i.ended_at, i.erased from case_file f join item i on i.kind = 'case' and i.id = f.id
 where f.court = :court and f.gold is not null;

-- name: change_gold :moves :unseen
with x as materialized (select * from json_to_recordset(:gold::json) as x (id text, gold text, body json)),
bodies as (
  update item i set body = coalesce(x.body, 'null'), updated_at = clock_timestamp()
    from x join case_file f on f.id = x.id
   where i.kind = 'case' and i.id = x.id and f.court = :court and f.gold is not null)
update case_file f set gold = x.gold from x where f.id = x.id and f.court = :court and f.gold is not null;

-- name: court_stats
select
  (select coalesce(json_object_agg(what, n), '{}') from (
     select what, sum(n) as n from tally
      where kind = 'case' and queue = :court group by what having sum(n) <> 0) t) as "counts!",
  (select coalesce(json_object_agg(state, n), '{}') from (
     select i.state, count(*)::integer as n from case_file f join item i on i.kind = 'case' and i.id = f.id
      where f.court = :court and f.gold is not null group by i.state) g) as "gold!",
  (select count(*)::integer from vote
    where court = :court and at > (select clock_timestamp()) - interval '1 hour'
      and counted and not gold) as "votes_last_hour!",
  (select count(*)::integer from lease
    where kind = 'case' and queue = :court
      and refused_at > (select clock_timestamp()) - interval '1 hour') as "wasted_last_hour!";

-- name: juror_limits
-- What the court's limits leave a juror and their other accounts. A shown case counts for the length of the window from
-- its first showing; frees_at is when the first one leaves it.
select j.admitted or j.newcomer as "eligible!", e.shown, e.frees_at,
       (court_day(c, n.now) + 1)::timestamp at time zone c.timezone as "day_ends_at!",
       coalesce((select d.votes from juror_day d where d.court = c.name and d.person = j.person
                    and d.day = court_day(c, n.now)), 0) as "votes!"
  from court c cross join (select clock_timestamp() as now) n
 cross join lateral juror_seen(c, :juror, :juror) j
 cross join lateral (
   select count(*)::integer as "shown!", min(x.shown_at) + make_interval(secs => c.window_seconds) as frees_at
     from exposure x
    where x.court = c.name and x.person = j.person and x.shown_at > n.now - make_interval(secs => c.window_seconds)) e
 where c.name = :court;
