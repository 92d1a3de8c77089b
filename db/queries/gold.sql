-- Gold tickets (db/functions/gold.sql).

-- name: put_gold
-- Replaces a queue's gold, all of it. What is changed begins anew; what stays is as it was.
with wanted as materialized (
  -- JSON's null is a body and an answer as any
  select id, coalesce(body, 'null') as body, coalesce(answer, 'null') as answer, subject, priority, requires
    from json_to_recordset(:tickets::json)
      as x (id text, body json, answer json, subject text, priority bigint, requires text[])
), unsaid as (
  delete from suggestion s using gold g
   where g.queue = :queue and s.item_id = '/' || g.id
     and not exists (select from wanted w where w.id = g.id and w.body::text = g.body::text)
), removed as (
  delete from gold where queue = :queue and id not in (select id from wanted)
)
insert into gold as g (queue, id, body, answer, subject, priority, requires)
select :queue, id, body, answer, subject, priority, requires from wanted
on conflict (queue, id) do update
   set body = excluded.body, answer = excluded.answer, subject = excluded.subject, priority = excluded.priority,
       requires = excluded.requires,
       retired = g.retired and (g.body, g.answer)::text = (excluded.body, excluded.answer)::text,
       changed_at = case when (g.body, g.answer)::text = (excluded.body, excluded.answer)::text then g.changed_at
                         else clock_timestamp() end;

-- name: list_gold
-- bytes: body, answer
select g.*, n.judged as "judged!", n."right" as "right!", n.skipped as "skipped!", n.disputed as "disputed!"
  from gold g cross join lateral gold_counts(g) n
 where g.queue = :queue and g.seq > :after::bigint order by g.seq limit :limit;

-- name: gold_answers
-- bytes: answer
select id, answer from gold where queue = :queue order by seq limit :limit;

-- name: retired_gold
select g.id, n.judged as "judged!", n."right" as "right!", n.disputed as "disputed!"
  from gold g cross join lateral gold_counts(g) n
 where g.queue = :queue and (g.retired or n.disputed > 0) order by g.seq;
