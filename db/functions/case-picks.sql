-- How a claim chooses a case for a juror (S2.4, S2.5); db/functions/courts.sql claims and holds it.

-- Chooses and locks a case for a juror who holds none. `p_holds` are claims of the same call: each reduces the capacity
-- of its case.
-- outcome  held, busy, or why there is none, as in claim_cases
create or replace function choose_case(
  c court, j juror_seen, p_holds case_hold[], p_now timestamptz, out outcome text, out id text
) language plpgsql as $$
#variable_conflict use_column
declare
  v_shown text[] := '{}';
  v_free integer;
begin
  outcome := case when not (j.admitted or j.newcomer) then 'notEligible'
                  when c.votes_per_day is not null and reached_daily_limit(c, j.person, 0, p_now) then 'fatigue' end;
  if outcome is not null then return; end if;
  if c.window_cases is not null then
    select coalesce(array_agg(case_id), '{}') into v_shown from exposure
     where court = c.name and person = j.person and shown_at > p_now - make_interval(secs => c.window_seconds);
    v_free := c.window_cases - cardinality(v_shown);
  end if;
  if c.mode <> 'assign' then
    id := pick_case(c, j, v_shown, v_free, array(select h.id from unnest(p_holds) h), p_now);
  end if;
  if id is null and v_free <= 0 then
    insert into tally_line (kind, queue, what, n) values ('case', c.name, 'window_hits', 1);
  end if;
  outcome := case when id = '' then 'busy' when id is not null then 'held' when v_free <= 0 then 'windowFull'
                  when not j.admitted then 'notEligible' else 'none' end;
  if outcome <> 'held' then id := null; end if;
end $$;

-- Locks a case with slots left that the person may judge. In a window of m cases every position is as likely as any
-- other: one that is taken gives the case shown there, a free one gives a case not shown yet. So repeated claims give
-- random ones of at most m cases, and never lead to a chosen one.
-- Like the next two it returns null where there is none, and '' where other claims have all of them locked.
-- p_held  what claims of the same call have been given; a case once for each
create or replace function pick_case(
  c court, j juror_seen, p_shown text[], p_free integer, p_held text[], p_now timestamptz
) returns text language plpgsql set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_places text[];
  v_id text;
  v_found text;
begin
  if p_free is null then return pick_new(c, j, p_shown, p_held, p_now); end if;
  select array_agg(s.id order by random()) into v_places from (
    select i.id from unnest(p_shown) as x (id)
     cross join lateral (select * from item where kind = 'case' and id = x.id offset 0) i
      join case_file f on f.id = i.id
     where i.state = 'ready' and i.capacity > 0 and (i.deadline_at is null or i.deadline_at > p_now)
       and not j.persons && i.skipped and may_judge(f, j) and case_exclusion(f, j) is null
    union all select null from generate_series(1, p_free)) s;
  for n in 1 .. coalesce(cardinality(v_places), 0) loop
    v_id := case when v_places[n] is null then pick_new(c, j, p_shown, p_held, p_now)
                 else lock_first(v_places[n:n], p_held) end;
    if v_id <> '' then return v_id; end if;
    v_found := coalesce(v_id, v_found);
  end loop;
  return v_found;
end $$;

-- A case not shown yet, in the order of the court's way to pick. One claim in so many goes by gold first; a newcomer's
-- goes by nothing else.
create or replace function pick_new(c court, j juror_seen, p_shown text[], p_held text[], p_now timestamptz)
returns text language plpgsql as $$
declare
  v_gold boolean := not j.admitted or random() < c.gold_share;
  v_id text;
  v_found text;
begin
  for n in 0 .. j.admitted::integer loop
    v_id := lock_first(case when v_gold = (n = 0) then next_gold(c, j, p_shown)
                            else next_cases(c, j, p_shown, p_held, p_now) end, p_held);
    if v_id <> '' then return v_id; end if;
    v_found := coalesce(v_id, v_found);
  end loop;
  return v_found;
end $$;

-- Gold is open to all jurors, however many hold it.
create or replace function is_gold(p_id text) returns boolean language sql stable as $$
  select gold is not null from case_file where id = p_id
$$;

-- Locks the first of these that no other transaction has locked and that still has slots left.
create or replace function lock_first(p_ids text[], p_held text[]) returns text language plpgsql as $$
begin
  if p_ids = '{}' then return null; end if;
  return coalesce((
    select i.id from unnest(p_ids) with ordinality as n (id, no) cross join lateral (
      select id from item i where i.kind = 'case' and i.id = n.id and i.state = 'ready'
         and (i.capacity > cardinality(array_positions(p_held, i.id)) or i.capacity > 0 and is_gold(i.id))
      offset 0 for update skip locked) i
     order by n.no limit 1), '');
end $$;

create or replace function next_gold(c court, j juror_seen, p_shown text[]) returns text[]
language plpgsql stable set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  -- most courts have none: nothing else is read then
  if c.gold_share = 0 and j.admitted
    or not exists (select from case_file where court = c.name and gold is not null) then
    return '{}';
  end if;
  return array(
    select i.id from case_file f cross join lateral (select * from item where kind = 'case' and id = f.id offset 0) i
     where f.court = c.name and f.gold is not null and i.state = 'ready' and f.id <> all (p_shown)
       and not j.persons && i.skipped and case_exclusion(f, j) is null
     order by random() limit 8);
end $$;

-- The next few cases with slots left that the person may judge: in order, or from a random start, with wrap-around. In
-- one statement, because a case that is taken meanwhile changes its place. What excludes the person is written out: as
-- a function it would be called for each case that they have judged already.
create or replace function next_cases(c court, j juror_seen, p_shown text[], p_held text[], p_now timestamptz)
returns text[] language plpgsql stable set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off as $$
declare
  v_first constant bigint := -9223372036854775808;
  v_from bigint := case when c.random_start then (random() * 4503599627370496)::bigint else v_first end;
begin
  return array(
    select n.id from (values (v_from, 9223372036854775807), (v_first, v_from)) as r (low, high) cross join lateral (
      select i.id from item i join case_file f on f.id = i.id
       where i.kind = 'case' and i.queue = c.name and i.state = 'ready' and i.capacity > 0 and f.gold is null
         and i.rank >= r.low and i.rank < r.high and i.capacity > cardinality(array_positions(p_held, i.id))
         and (i.deadline_at is null or i.deadline_at > p_now)
         and i.id <> all (p_shown) and not j.persons && i.skipped
         and not f.party_ids && j.ids and not j.persons && f.party_persons
         and not exists (
           select from vote v where v.case_id = i.id and (v.person = any (j.persons) or v.juror = any (j.ids)))
       order by i.rank, i.seq limit 8) n
     limit 8);
end $$;
