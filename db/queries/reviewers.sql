-- The register of reviewers (db/functions/register.sql).

-- name: put_reviewer
insert into reviewer (name, person, display_name, skills, per_day, exposure, away_until, timezone)
values (:name, :person?, :displayName?, :skills, :perDay?, :exposure::jsonb, :awayUntil?, :timezone)
on conflict (name) do update
   set person = excluded.person, display_name = excluded.display_name, skills = excluded.skills,
       per_day = excluded.per_day, exposure = excluded.exposure, away_until = excluded.away_until,
       timezone = excluded.timezone, updated_at = clock_timestamp()
returning *;

-- name: get_reviewer
select * from reviewer where name = :name;

-- name: list_reviewers
-- Newest first, behind the one numbered :before?.
select * from reviewer where :before?::bigint is null or seq < :before order by seq desc limit :limit;

-- name: delete_reviewer
delete from reviewer where name = :name returning name;

-- name: ticket_causes
-- What keeps each of these persons, or of the whole register, from a ticket.
select r.name as "name!", r.names && i.exclude or l.is_look and r.names && i.skipped as "excluded!",
       not l.is_look and r.names && i.skipped as "skipped!",
       not i.requires <@ case when r.registered and q.registered or :persons?::text[] is null then r.skills
                              else :skills::text[] end as "lacks_skills!",
       q.max_held <= (
         select count(*) from item o where o.kind = i.kind and o.queue = i.queue and o.state = 'held'
            and o.holder = r.name and o.expires_at > clock_timestamp()) as "max_held!",
       q.paused, q.registered and not r.registered as "not_registered!", r.away_until is not null as "away!",
       r.spent is true and not h.handed as "quota!",
       i.category is not null and i.category = any (r."full") and not h.handed as "exposure!",
       i.for_person is not null
         and not is_for(i.for_person, i.for_until, i.exclude || i.skipped, r.names, (select away_names()))
         as "for_another!"
  from item i
  join queue q on q.kind = i.kind and q.name = i.queue
 cross join unnest(coalesce(:persons?, array(select name from reviewer order by seq desc))) with ordinality p (name, no)
 cross join lateral register_of(p.name) r
 cross join lateral (select i.event_seq > 1 and was_handed(i.id, r.names) as handed) h
 cross join lateral (select coalesce(i.look ? 'of', false) as is_look) l
 where i.kind = 'ticket' and i.id = :id
 order by p.no;

-- name: forget_reviewer_days
-- No zone has a day that far back.
delete from reviewer_day where ctid = any (array(
  select ctid from reviewer_day where day < (select (clock_timestamp() at time zone 'UTC')::date - 2) limit 1000));
