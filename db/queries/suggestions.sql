-- What models suggest for tickets (db/functions/suggestions.sql).

-- name: add_suggestion
select * from add_suggestion(
  :id, :model, :decision::text::json, :confidence, :reasons?::text::json, :hash, :formVersion?, :version?);

-- name: queue_of_gold
-- Where gold has this id; what is said of it counts wherever it has.
select q.* from gold g join queue q on q.kind = 'ticket' and q.name = g.queue where g.id = :id order by q.name limit 1;

-- name: add_gold_suggestion
insert into suggestion (item_id, model, queue, mode, decision, confidence, reasons, hash, form_version, decides)
select '/' || g.id, :model, q.name, coalesce(q.assist ->> 'mode', 'off'), :decision::text::json, :confidence,
       :reasons?::text::json, decode(:hash, 'hex'), :formVersion?, false
  from gold g join queue q on q.kind = 'ticket' and q.name = g.queue where g.id = :id and q.name = :queue
on conflict (item_id, model) do nothing
returning *;

-- name: get_suggestion
select * from suggestion where item_id = :id and model = :model;

-- name: assist_modes
select name, assist ->> 'mode' as "mode!" from queue where kind = 'ticket' and assist is not null;

-- name: deciding_suggestions
-- Which suggestions decide these tickets now; with a form where they were checked against another one, or none.
select s.*, q.settings_version, case when s.form_version is distinct from q.settings_version then q.form end as form
  from deciding_suggestions(:ids) s join queue q on q.kind = 'ticket' and q.name = s.queue;

-- name: note_form
-- Whether a suggestion fits a newer form; one that doesn't decides nothing.
update suggestion set form_version = :formVersion, decides = :fits where item_id = :id and model = :model and decides;

-- name: decide_suggested :moves
select {shown_ticket} from decide_suggested(:ids, :tokens);

-- name: suggested_tickets
-- Tickets that a suggestion may decide now, in one queue or in all. Those that are over are not looked at again.
with found as materialized (
  select s.item_id, s.model, i.ended_at is not null as over
    from queue q
    join suggestion s on s.queue = q.name and s.decides
     and s.confidence >= (q.assist ->> 'minConfidence')::double precision
    join item i on i.kind = q.kind and i.id = s.item_id and (i.ended_at is not null or may_decide(s, i, q))
   where q.kind = 'ticket' and q.assist is not null and q.assist ->> 'mode' = 'auto'
     and (:queue?::text is null or q.name = :queue)
   limit :limit
), over as (
  update suggestion s set decides = false from found f where f.over and s.item_id = f.item_id and s.model = f.model)
select distinct item_id as id from found where not over;

-- name: show_suggestions
-- What is shown of these tickets: of each that is open, in a queue in mode suggest, the suggestion with most
-- confidence, then the oldest; none of a second look. It is noted to whom it was shown.
-- :persons  who each is shown to; null: nobody who decides it
with best as materialized (
  select distinct on (i.id) i.id, p.person, s.item_id, s.model, s.decision, s.confidence, s.reasons
    from unnest(:ids::text[], :persons::text[]) as p (id, person)
    join item i on i.kind = 'ticket' and i.id = p.id and i.ended_at is null and (i.look is null or is_gold(i.look))
    join queue q on q.kind = i.kind and q.name = i.queue and q.assist ->> 'mode' = 'suggest'
    join suggestion s on s.item_id = suggested_as(i) and (s.queue = i.queue or is_gold(i.look))
     and s.content_version is not distinct from i.content_version
   order by i.id, s.confidence desc, s.seq
), noted as (
  update suggestion s set shown_to = s.shown_to || b.person from best b
   where s.item_id = b.item_id and s.model = b.model and not b.person = any (s.shown_to))
select id, model, decision, confidence, reasons from best;

-- name: unsuggested
-- bytes: body
select * from unsuggested(:queue, :model, :limit);

-- name: suggestion_figures
-- Figures of each model and mode over the newest :lines decided tickets of a queue that were added in that time; one
-- row without a model where nothing was suggested. A model's own decision is judged by a second look only.
with t as materialized (select since as "since!", until as "until!" from time_range(:from?, :to?)),
listed as materialized (
  select i.* from t cross join lateral (
    select id, created_at, result, ended_by, settled_token, automation, erased, look from item
     where kind = 'ticket' and queue = :queue and state = 'settled' and created_at >= t.since and created_at < t.until
     order by created_at desc, seq desc limit :lines) i
), ticket as materialized (
  select *, coalesce((look #> '{standing,decision}')::json, result) as standing from listed
   where settled_token is not null and not erased and (look ? 'of') is not true
), found as materialized (
  select s.model, s.mode, s.decision::jsonb as decision, least(floor(s.confidence * 10), 9)::integer as bin,
         i.ended_by = any (s.shown_to) as shown, a.automated, a.automated and l.looked as looked,
         a.automated and i.look @? '$.looks[*] ? (@.outcome == "overturned")' as overturned,
         case when l.looked or not a.automated then same_decision(q.second -> 'compare', s.decision, i.standing) end
           as is_right
    from ticket i
    join queue q on q.kind = 'ticket' and q.name = :queue
    join suggestion s on s.item_id = i.id and s.queue = q.name
   cross join lateral (
     select i.automation is not distinct from 'full' and i.ended_by = 'model:' || s.model as automated) a
   cross join lateral (
     select i.look @? '$.looks[*] ? (@.outcome == "upheld" || @.outcome == "overturned")' as looked) l
)
select t.since, t.until,
       case when (select count(*) from listed) = :lines then (select min(created_at) from listed) end as covered,
       (select count(*) from ticket)::integer as "decided!", m.*
  from t left join lateral (
    select f.model, f.mode, count(*)::integer as "suggested!", count(*) filter (where shown)::integer as "shown!",
           count(*) filter (where automated)::integer as "automated!", count(is_right)::integer as "judged!",
           count(*) filter (where is_right)::integer as "agreed!",
           count(*) filter (where looked)::integer as "looked!",
           count(*) filter (where overturned)::integer as "overturned!",
           (select json_agg(json_build_object('suggested', b.n, 'judged', b.judged, 'right', b.correct) order by bin)
              from (select g.bin, count(o.bin) as n, count(o.is_right) as judged,
                           count(*) filter (where o.is_right) as correct
                      from generate_series(0, 9) as g (bin)
                      left join found o on o.bin = g.bin and o.model = f.model and o.mode = f.mode
                     group by 1) b) as "bins!",
           (select coalesce(json_agg(json_build_object('decision', a.decision, 'judged', a.judged, 'right', a.correct)
                                     order by a.judged desc, a.decision), '[]')
              from (select o.decision, count(*) as judged, count(*) filter (where o.is_right) as correct from found o
                     where o.model = f.model and o.mode = f.mode and o.is_right is not null
                     group by 1 order by 2 desc, 1 limit 50) a) as "agreements!"
      from found f group by f.model, f.mode order by 3 desc, 1, 2 limit 200) m on true;
