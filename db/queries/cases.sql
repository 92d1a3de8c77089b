-- Cases: what volunteer jurors judge (S2). What changes them is in db/functions/cases.sql, votes.sql and courts.sql.

-- name: add_cases :moves
-- One row per case of the JSON array :cases; ids that exist already are left out of the answer. All are of one moment,
-- so that they are handed out in the order in which they were sent.
with moment as materialized (select clock_timestamp() as now), sent as (
  select distinct on (x.id) x.* from json_to_recordset(:cases::json) as x (
    no integer, id text, court text, parties jsonb, body json, hash text, callback jsonb,
    "deadlineSeconds" double precision, gold text, "votesLeft" integer, priority bigint, actor text, look jsonb)
   order by x.id, x.no
), added as (
  insert into item (kind, id, queue, state, priority, rank, body, content_hash, callback, own_deadline, capacity,
                    lacks_jurors, version, created_at, available_at, first_available_at, deadline_at, wake_at,
                    event_seq, last_event, last_actor, last_data, updated_at, look)
  select 'case', x.id, q.name, 'ready', x.priority, case_rank(c, x.priority, t.created_at),
         coalesce(x.body, 'null'), decode(x.hash, 'hex'), x.callback,
         x."deadlineSeconds" is not null, case when x.gold is null then x."votesLeft" + c.overbook else 1 end,
         x.gold is null and c.mode <> 'claim', nextval('item_version'),
         t.created_at, t.created_at, t.created_at, t.deadline_at, t.deadline_at,
         1, 'created', x.actor, json_strip_nulls(json_build_object(
           'court', q.name, 'of', x.look #>> '{of,id}', 'cause', x.look #>> '{of,cause}',
           'reason', x.look ->> 'reason')), t.now,
         -- who may not judge a look: all who voted on the case or in an earlier look, by their accounts and as persons
         x.look - 'reason' || jsonb_build_object('deciders', array(
           select distinct n from vote v, unnest(array[v.juror, v.person]) n
            where v.case_id = any (x.look #>> '{of,id}' || looks_of('case', x.look #>> '{of,id}'))))
    from sent x
    join queue q on q.kind = 'case' and q.name = x.court
    join court c on c.name = q.name
   cross join moment n
   cross join lateral (
     select n.now, date_trunc('milliseconds', n.now) as created_at,
             case when x.gold is null then
               n.now + make_interval(secs => coalesce(x."deadlineSeconds", q.deadline_seconds)) end as deadline_at) t
   order by x.no
  on conflict (kind, id) do nothing
  returning *
), filed as (
  insert into case_file (id, court, parties, party_ids, party_persons, gold, votes_left)
  select a.id, a.queue, x.parties, party_ids(x.parties) || deciders_of(a.look),
         party_persons(c, x.parties) || deciders_of(a.look), x.gold, x."votesLeft"
    from added a join sent x on x.id = a.id join court c on c.name = a.queue
)
select * from added order by seq;

-- name: get_cases
select i.*, f.parties, f.tally, f.votes, f.votes_left, f.stage, f.holds, f.wasted, f.winner, f.gold, c.options
  from item i join case_file f on f.id = i.id join court c on c.name = f.court
 where i.kind = 'case' and i.id = any (:ids::text[]);

-- name: case_sight
-- What a juror (:juror, or the holder of the token :token) has to do with cases, through whichever account: since when
-- it was shown to them, whether they hold it, their vote. `luck` is a number from 0 to 1 that stays the same for this
-- person and case.
select c.options as "options!", f.gold, s.shown_at, s.holds, v.option, v.at as voted_at, n.now,
       abs(hashtextextended(p.person || chr(31) || f.id, 7) % 1000000) / 1000000.0::double precision as "luck!"
  from case_file f join court c on c.name = f.court
 cross join lateral (
   select coalesce(:juror?::text, (select holder from lease
                                    where token = :token?::text and kind = 'case' and item_id = f.id)) as juror) a
 cross join lateral (
   select coalesce((select person from juror where court = c.name and list = c.list and id = a.juror),
                   a.juror) as person) p
 cross join lateral (
   select min(granted_at) as "shown_at!", coalesce(bool_or(ended_at is null), false) as "holds!" from lease
    where kind = 'case' and item_id = f.id and slot in (p.person, a.juror)) s
 cross join (select clock_timestamp() as "now!") n
  left join lateral (
   select option, at from vote
    where case_id = f.id and (person = p.person or juror = a.juror) order by seq limit 1) v on true
 where f.id = any (:ids::text[]) and s.shown_at is not null;

-- name: list_cases
-- Cases of one court or of all, newest first, without gold. (:beforeCreatedAt, :beforeSeq) are the creation time and
-- number of the last row of the page before.
-- bytes: body, result, last_data, parties
select i.* from queue qq cross join lateral (
  select i.*, f.parties, f.tally, f.votes, f.votes_left, f.stage, f.holds, f.wasted, f.winner, f.gold, c.options
    from item i join case_file f on f.id = i.id join court c on c.name = f.court
   where i.kind || '' = 'case' and i.queue = qq.name and (:state?::text is null or i.state = :state) and f.gold is null
     and (:beforeCreatedAt?::timestamptz is null or (i.created_at, i.seq) < (:beforeCreatedAt, :beforeSeq?::bigint))
   order by i.created_at desc, i.seq desc limit :limit) i
 where qq.kind = 'case' and (:court?::text is null or qq.name = :court)
 order by i.created_at desc, i.seq desc limit :limit;

-- name: explain_juror
-- not null: outcome, no_votes_left, voted, party, skipped, open, gold
select o.outcome, r.* from court c cross join lateral juror_seen(c, :juror, :juror) j
 cross join lateral juror_outlook(c, j, clock_timestamp()) o cross join lateral case_reasons(c.name, :juror) r
 where c.name = :court;

-- name: cases_to_judge
-- The basis for judging votes: the counted votes so far, of which gold has none, and the court's settings. Where its
-- strategy goes by records, `ballots` has these, the last one with the record of who votes now.
select f.id, case when f.gold is null then f.tally else '{}' end as "tally!", f.votes, f.stage, f.gold,
       c.*, q.settings_version, case when c.by_records then ballots(f, :tokens::text[]) end as ballots
  from case_file f join court c on c.name = f.court join queue q on q.kind = 'case' and q.name = f.court
 where f.id = any (:ids::text[]);

-- name: case_votes
-- Newest first; :before is the number of the last row of the page before.
-- bytes: comment
select seq, juror, option, comment, at, counted from vote
 where case_id = :id and (:before?::bigint is null or seq < :before) order by seq desc limit :limit;

-- name: invitations
-- A juror's open invitations, through whichever of their accounts, newest first: a token begins with its time.
select l.token as "token!", l.item_id as "case_id!", l.queue as "court!", l.expires_at as "expires_at!" from lease l
 where l.kind = 'case' and l.invited and l.ended_at is null and l.expires_at > clock_timestamp()
   and l.queue in (select name from court) and l.slot in (
     select :juror::text union
     select j.person from court c join juror j on j.court = c.name and j.list = c.list and j.id = :juror)
   and (l.holder = :juror
     or exists (select from court c join juror j on j.court = c.name and j.list = c.list and j.id = :juror
                 where c.name = l.queue and j.person = l.slot))
   and (:before?::text is null or l.token < :before)
 order by l.token desc limit :limit;
