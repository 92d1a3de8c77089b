-- The register of reviewers (docs/guides/tickets.md). A quota counts a ticket once a person, in the transaction that
-- hands it out. Claims of a person take turns, so that none counts less than those before it.

-- Waits for the turn of these names' persons, in the order of keys, as everywhere.
create or replace function lock_registered(p_names text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('reviewer', '', coalesce(person, name)) as key from reviewer
     where name = any (p_names) order by 1) s;
end $$;

-- What the register says of each of these names now, in their order. Of several names of a person the least limit
-- holds, and the time zone of the one that was registered first. `spent` is null where nothing limits them,
-- `away_until` where it is over. One statement for all: many may share a claim.
-- p_chosen  tickets that all of them are about to be handed, which count already
create or replace function registers_of(p_names text[], p_chosen text[] default '{}') returns setof register_entry
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := clock_timestamp();
  v_erased boolean := exists (select from erased_name);
begin
  return query
  with own as materialized (
    select p.no, p.name, coalesce(r.person, r.name) as one, r.skills
      from unnest(p_names) with ordinality p (name, no) left join reviewer r on r.name = p.name
  ), person as materialized (
    select n.*, (v_now at time zone n.zone)::date as day
      from (select o.one, array_agg(r.name) as names, min(r.per_day) as per_day, bool_or(r.exposure <> '{}') as exposed,
                   max(r.away_until) filter (where r.away_until > v_now) as away_until,
                   (array_agg(r.timezone order by r.seq))[1] as zone
              from (select distinct one from own where one is not null) o
              join reviewer r on coalesce(r.person, r.name) = o.one group by o.one) n
  ), today as materialized (
    select p.*, d.n, d.categories,
           array(select id from unnest(p_chosen) id where p_chosen <> '{}' and not was_handed(id, p.names)) as chosen
      from person p
     cross join lateral (
       select coalesce(sum(d.n), 0) as n, array_agg(d.categories) as categories from reviewer_day d
        where d.name = any (p.names) and d.day = p.day and (p.per_day is not null or p.exposed)) d)
  select o.no, o.name, coalesce(o.one, o.name),
         case when v_erased then known_as(o.name) else array[o.name] || array_remove(t.names, o.name) end,
         o.one is not null, coalesce(o.skills, '{}'), t.away_until, (t.day + 1)::timestamp at time zone t.zone,
         case when t.per_day is not null or t.exposed
              then coalesce(t.per_day <= cardinality(t.chosen) + t.n, false) end,
         case when t.exposed then array(
           select x.key from reviewer r cross join jsonb_each_text(r.exposure) x
            where coalesce(r.person, r.name) = t.one group by x.key having min(x.value::integer) <= (
              select coalesce(sum((c ->> x.key)::integer), 0) from unnest(t.categories) c)
              + (select count(*) from item where kind = 'ticket' and id = any (t.chosen) and category = x.key))
           else '{}' end
    from own o left join today t on t.one = o.one order by o.no;
end $$;

create or replace function register_of(p_name text, p_chosen text[] default '{}') returns register_entry
language sql stable as $$
  select * from registers_of(array[p_name], p_chosen)
$$;

-- All names of persons who are away.
create or replace function away_names() returns text[] language plpgsql stable as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  if not exists (select from reviewer where away_until > v_now) then return '{}'; end if;
  return array(
    select n.name from reviewer a join reviewer n on coalesce(n.person, n.name) = coalesce(a.person, a.name)
     where a.away_until > v_now);
end $$;

-- Whether a ticket was handed to a person, under any of these names.
create or replace function was_handed(p_id text, p_names text[]) returns boolean language plpgsql stable as $$
begin
  return exists (
    select from event
     where kind = 'ticket' and item_id = p_id and type = 'claimed' and token is not null and actor = any (p_names));
end $$;

-- Whether a ticket that is for a person may go to these names: a person who is away, excluded or erased binds nobody.
create or replace function is_for(
  p_for text, p_until timestamptz, p_not text[], p_names text[], p_away text[]
) returns boolean language sql stable as $$
  select coalesce(p_until, 'infinity') <= clock_timestamp() or p_for = any (p_names) or p_for = any (p_away)
      or starts_with(p_for, 'erased-') or p_not <> '{}' and known_as(p_for) && p_not
$$;

-- Whether a waiting ticket may go to a person.
-- p_names  null: who gets it is looked at later
-- p_full   categories of which they have had all that they may have today
create or replace function is_offered(i item, p_names text[], p_full text[], p_away text[]) returns boolean
language sql stable as $$
  select p_names is null
      or not (p_names && i.exclude or p_names && i.skipped)
         and (i.for_person is null or is_for(i.for_person, i.for_until, i.exclude || i.skipped, p_names, p_away))
         and (p_full = '{}' or i.category is null or i.category <> all (p_full)
              or i.event_seq > 1 and was_handed(i.id, p_names))
$$;

-- The same as choose_items, where a register is kept or tickets are for one person. Where several ask, the head of the
-- queue is looked at once for all who may get any, each person once. Whoever gets none of it, or has a ticket that is
-- for them, looks alone.
create or replace function choose_registered(q queue, p_persons text[], p_skills text[]) returns text[]
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_ids text[] := array_fill(null::text, array[cardinality(p_persons)]);
  v_away text[] := away_names();
  v_all register_entry[];
  v_first register_entry[];
  v_head text[];
  v_mine text[];
  v_none text;
  v_free boolean := not exists (select from item where queue = q.name and state = 'ready' and for_person is not null);
  e register_entry;
  r record;
begin
  v_all := array(
    select (o.no, o.name, o.one, o.names, o.registered, case when q.registered then o.skills else p_skills end,
            null, null, o.spent, o."full")::register_entry
      from registers_of(p_persons) o where o.away_until is null and (o.registered or not q.registered) order by o.no);
  if cardinality(v_all) = 0 then return null; end if;
  if p_persons[1] = all (p_persons) then
    if (v_all[1]).spent is null then
      return head_of_queue(q, (v_all[1]).names, (v_all[1]).skills, cardinality(v_all), '{}', '{}');
    end if;
  else
    v_first := array(
      select f from (select distinct on (a.one) a as f, a.no from unnest(v_all) a
                      where a.spent is not true and (v_free or not exists (
                        select from item where queue = q.name and state = 'ready' and for_person = any (a.names)))
                      order by a.one, a.no) s order by s.no);
  end if;
  if (select count(distinct skills) from unnest(v_first)) = 1 then
    v_head := head_of_queue(q, '{}', (v_first[1]).skills, cardinality(v_first), '{}', '{}');
    for r in
      select f.no, i.id from unnest(v_head) with ordinality h (id, n)
        join item i on i.kind = q.kind and i.id = h.id
        join (select f, row_number() over () as n from unnest(v_first) f) s on s.n = h.n
       cross join lateral (select (s.f).*) f
       where is_offered(i, f.names, f."full", v_away)
    loop v_ids[r.no] := r.id; end loop;
  end if;
  foreach e in array v_all loop
    continue when v_ids[e.no] is not null or e.name = v_none;
    v_mine := array(select v_ids[a.no] from unnest(v_all) a where a.one = e.one and v_ids[a.no] is not null);
    if e.spent is not null and v_mine <> '{}' then
      select o.spent, o."full" into e.spent, e."full" from register_of(e.name, v_mine) o;
    end if;
    v_head := case when e.spent then head_of_handed(q, e.names, e.skills, array_remove(v_ids, null), v_away)
                   else head_of_queue(q, e.names, e.skills, 1, array_remove(v_ids, null), e."full") end;
    v_ids[e.no] := v_head[1];
    if v_ids[e.no] is null then v_none := e.name; end if;
  end loop;
  return v_ids;
end $$;

-- Of what a person was handed before, the first that waits, locked: all that is left to them at a full quota.
create or replace function head_of_handed(q queue, p_names text[], p_skills text[], p_but text[], p_away text[])
returns text[] language plpgsql as $$
begin
  return array(
    select i.id from item i
     where (i.kind || '') = 'ticket' and (i.state || '') = 'ready' and i.event_seq > 1 and i.queue = q.name
       and not is_gold(i.look) and i.requires <@ p_skills and i.rules_due_at is null
       and coalesce(i.deadline_at, 'infinity') > clock_timestamp()
       and i.id <> all (p_but) and is_offered(i, p_names, '{}', p_away) and was_handed(i.id, p_names)
     order by i.rank, i.seq limit 1 for update skip locked);
end $$;

-- Counts tickets that are about to be handed out, under the names of those who are registered.
create or replace function count_hand_outs(p_ids text[], p_persons text[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  insert into reviewer_day as d (name, day, n, categories)
  select s.name, s.day, sum(s.n),
         coalesce(jsonb_object_agg(s.category, s.n) filter (where s.category is not null), '{}')
    from (
      select r.name, (clock_timestamp() at time zone o.timezone)::date as day, i.category, count(*) as n
        from unnest(p_ids, p_persons) as p (id, person)
        join reviewer r on r.name = p.person
        join item i on i.kind = 'ticket' and i.id = p.id
       cross join lateral (
         select n.timezone from reviewer n where coalesce(n.person, n.name) = coalesce(r.person, r.name)
          order by n.seq limit 1) o
       where i.event_seq = 1 or not was_handed(i.id, known_as(r.name)) group by 1, 2, 3) s
   group by s.name, s.day order by s.name
  on conflict (name, day) do update
     set n = d.n + excluded.n,
         categories = case when excluded.categories = '{}' then d.categories else d.categories || (
           select jsonb_object_agg(e.key, coalesce((d.categories ->> e.key)::integer, 0) + e.value::integer)
             from jsonb_each_text(excluded.categories) e) end;
end $$;

-- The text to which a JSON pointer leads; null: it leads to none that is a category.
create or replace function category_in(p_body json, p_pointer text) returns text
language plpgsql immutable strict parallel safe as $$
declare
  v_path text[] := pointer_path(p_pointer);
begin
  return case when json_typeof(p_body #> v_path) = 'string' and p_body #>> v_path ~ '^[^[:cntrl:]]{1,200}$'
              then p_body #>> v_path end;
end $$;
