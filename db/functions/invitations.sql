-- Assignment (S2.1): a case's workflow asks for jurors whenever some are missing, and a juror who becomes free is
-- invited to a case that lacks some. The number missing is computed under the case's lock each time, so a repeated
-- round never invites too many.

-- Invites as many random jurors as the case lacks, by the same rules as claims. Each has until the answer time;
-- one who declines or does not answer is not invited to this case again.
-- p_tokens  one for each who may be invited at most
create or replace function invite_jurors(p_id text, p_tokens text[]) returns integer language plpgsql as $$
declare
  i item;
  f case_file;
  c court;
  v_missing integer;
  v_juror text;
  v_person text;
  v_asked text[];
  v_holds case_hold[] := '{}';
begin
  perform lock_jurors(queue, false) from item where kind = 'case' and id = p_id;
  select * into i from item where kind = 'case' and id = p_id and lacks_jurors for update;
  if not found then return 0; end if;
  select * into f from case_file where id = p_id;
  select * into c from court where name = f.court;
  v_missing := least(c.assign_jurors - f.holds, case_slots_left(f, c), cardinality(p_tokens));
  v_asked := i.skipped;
  for tries in 1 .. v_missing * 3 loop
    exit when cardinality(v_holds) = v_missing;
    v_juror := any_juror(c, f, v_asked, random());
    exit when v_juror is null;
    v_person := lock_juror(c, f, v_asked, v_juror);
    continue when v_person is null;
    v_asked := v_asked || v_person;
    v_holds := v_holds || (p_id, p_tokens[cardinality(v_holds) + 1], v_juror, v_person, null)::case_hold;
  end loop;
  if v_holds <> '{}' then perform invite_to_case(c, v_holds); end if;
  -- too few proven jurors: as many newcomers are invited to gold, and may have proven themselves by the next round
  if cardinality(v_holds) < v_missing and not c.bar_newcomers then
    perform free_jurors(c.name, some_newcomers(c, random(), v_missing - cardinality(v_holds)));
  end if;
  return cardinality(v_holds);
end $$;

-- Gives jurors, whose persons are locked, their invitations to one case, until the end of the answer time.
create or replace function invite_to_case(c court, p_holds case_hold[]) returns void language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  perform hold_cases(c, array(
    select (h.id, h.token, h.juror, h.person, v_now + make_interval(secs => c.answer_seconds))::case_hold
      from unnest(p_holds) h), true, v_now);
  insert into juror_day as d (court, person, day, invited)
  select c.name, h.person, court_day(c, v_now), 1 from unnest(p_holds) h order by h.person
  on conflict (court, person, day) do update set invited = d.invited + 1;
  -- re-randomised, so that a gap in front of a juror does not bias the selection
  update juror set dice = random()
   where court = c.name and list = c.list and id in (select h.juror from unnest(p_holds) h);
  perform publish_invitations(c, p_holds[1].id, array(select h.token from unnest(p_holds) h));
  -- cases that asked meanwhile have found them locked
  if c.invites_open > 1 then perform free_jurors(c.name, array(select h.person from unnest(p_holds) h)); end if;
end $$;

-- Publishes the invitations of these tokens: the case's new version for its workflow, an event for each juror's stream,
-- and a delivery each to the court's callback. The first number of a case's deliveries is its outcome's.
create or replace function publish_invitations(c court, p_id text, p_tokens text[]) returns void language plpgsql as $$
declare
  v_version bigint := (select version from item where kind = 'case' and id = p_id);
begin
  insert into notice (kind, item_id, queue, person, type, data)
  select 'case', p_id, c.name, l.holder, 'invited',
         json_build_object('court', c.name, 'expiresAt', iso_time(l.expires_at))
    from lease l where l.token = any (p_tokens);
  if c.invitation_callback is null then return; end if;
  with added as (
    insert into delivery (kind, item_id, n, type, version, queue, url, state, body)
    select 'case', p_id, last.n + row_number() over (order by l.token), 'case.invited', v_version, c.name,
           c.invitation_callback ->> 'url', 'pending', json_build_object('token', l.token)
      from lease l, (select coalesce(max(d.n), 1) as n from delivery d where d.kind = 'case' and d.item_id = p_id) last
     where l.token = any (p_tokens)
    returning kind, item_id, n)
  insert into delivery_start (kind, item_id, n) select kind, item_id, n from added;
end $$;

-- Records the jurors who may be free from now on, if a case of their court lacks some.
-- p_persons  null: any of the court's
create or replace function free_jurors(p_court text, p_persons text[]) returns void language plpgsql as $$
begin
  if not exists (select from court where name = p_court and mode <> 'claim') then return; end if;
  if not exists (select from item where kind = 'case' and queue = p_court and lacks_jurors) then return; end if;
  insert into freed_juror (court, person)
  select p_court, person from unnest(coalesce(p_persons, array[null])) as person;
end $$;

-- A hold has ended, in whatever way.
create or replace function note_freed_juror() returns trigger language plpgsql as $$
begin
  perform free_jurors(new.queue, array[new.slot]);
  return null;
end $$;

-- Cases that lack jurors and that this person may judge, in their order.
create or replace function cases_for(c court, j juror_seen) returns text[]
language plpgsql stable set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return array(
    select i.id from item i join case_file f on f.id = i.id
     where i.kind = 'case' and i.queue = c.name and i.lacks_jurors and not j.persons && i.skipped
       and not f.party_ids && j.ids and not j.persons && f.party_persons
       and not exists (select from lease l where l.kind = 'case' and l.item_id = i.id and l.slot = j.person)
       and not exists (
         select from vote v where v.case_id = i.id and (v.person = any (j.persons) or v.juror = any (j.ids)))
     order by i.rank, i.seq limit 8);
end $$;

-- Invites a juror who has become free to a case that lacks jurors, or a newcomer to gold, by one of the person's
-- accounts. The person is locked first, as in claims.
-- Returns the case, null where there is none for them, or '' where other calls have locked all candidates: retry.
create or replace function invite_freed(p_seq bigint, p_token text) returns text
language plpgsql set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  r freed_juror;
  i item;
  f case_file;
  c court;
  j juror_seen;
  v_juror text;
  v_id text;
  v_result text;
begin
  select * into r from freed_juror where seq = p_seq for update skip locked;
  if not found then return null; end if;
  perform lock_jurors(r.court, false);
  select * into c from court where name = r.court;
  select id into v_juror from juror
   where court = c.name and list = c.list and person = r.person and eligible and invite order by random() limit 1;
  if found then
    perform pg_advisory_xact_lock(person_key('case', c.name, r.person));
    j := juror_seen(c, v_juror, r.person);
    foreach v_id in array case when j.newcomer then next_gold(c, j, '{}') else cases_for(c, j) end
    loop
      select * into i from item where kind = 'case' and id = v_id for update skip locked;
      if not found then
        v_result := '';
        continue;
      end if;
      select * into f from case_file where id = v_id;
      continue when not (i.lacks_jurors or j.newcomer) or lock_juror(c, f, i.skipped, v_juror) is null;
      perform invite_to_case(c, array[(v_id, p_token, v_juror, r.person, null)::case_hold]);
      v_result := v_id;
      exit;
    end loop;
  end if;
  if v_result is distinct from '' then delete from freed_juror where seq = p_seq; end if;
  return v_result;
end $$;

-- The first juror from a random start of the list on who may be invited; from its beginning if there is none. At most
-- a thousand are checked: where hardly any juror is free, the next round checks others.
create or replace function any_juror(c court, f case_file, p_skipped text[], p_from double precision) returns text
language plpgsql set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $$
begin
  return (
    select n.id from (values (p_from, 1), (0, p_from)) as r (low, high) cross join lateral (
      select j.id from (
        select id, person, dice from juror
         where court = c.name and list = c.list and eligible and invite and dice >= r.low and dice < r.high
         order by dice limit 1000) j
       where live_holds(c, array[j.person]) < c.invites_open and invitable(c, f, p_skipped, j.id, j.person)
       order by j.dice limit 1) n
     limit 1);
end $$;

-- Newcomers who may be invited, from a random start of the list on.
create or replace function some_newcomers(c court, p_from double precision, p_limit integer) returns text[]
language plpgsql stable set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return array(
    select j.person from (values (p_from, 1), (0, p_from)) as r (low, high) cross join lateral (
      select id, person from juror
       where court = c.name and list = c.list and eligible and invite and dice >= r.low and dice < r.high
       order by dice limit 100) j
     where live_holds(c, array[j.person]) < c.invites_open
       and (juror_seen(c, j.id, j.person)).newcomer
     limit p_limit);
end $$;

-- How many cases these persons hold, invitations included.
create or replace function live_holds(c court, p_persons text[]) returns integer language sql stable as $$
  select count(*)::integer from lease
   where kind = 'case' and queue = c.name and slot = any (p_persons) and ended_at is null
$$;

-- The cheapest checks come first: most of a hundred thousand jurors need only one or two of them.
create or replace function invitable(c court, f case_file, p_skipped text[], p_juror text, p_person text)
returns boolean language plpgsql stable as $$
declare
  j juror_seen;
begin
  if p_person = any (p_skipped)
     or live_holds(c, array[p_person]) >= c.invites_open
     or exists (select from lease where kind = 'case' and item_id = f.id and slot = p_person)
     or reached_daily_limit(c, p_person, live_holds(c, array[p_person]), clock_timestamp())
     or exists (select from juror_day d where d.court = c.name and d.person = p_person
                   and d.day = court_day(c, clock_timestamp()) and d.invited >= c.invites_per_day)
     or (select count(*) from exposure e where e.court = c.name and e.person = p_person and e.case_id <> f.id
            and e.shown_at > clock_timestamp() - make_interval(secs => c.window_seconds)) >= c.window_cases then
    return false;
  end if;
  j := juror_seen(c, p_juror, p_person);
  return not j.persons && p_skipped and may_judge(f, j) and case_exclusion(f, j) is null
     and live_holds(c, j.ids || p_person) < c.invites_open;
end $$;

-- Locks a juror who may be invited. Returns the person, or null where another call has locked them: try another juror.
create or replace function lock_juror(c court, f case_file, p_skipped text[], p_juror text) returns text
language plpgsql as $$
declare
  v_person text;
begin
  select person into v_person from juror where court = c.name and list = c.list and id = p_juror;
  if not pg_try_advisory_xact_lock(person_key('case', c.name, v_person)) then return null; end if;
  -- checked again under the lock
  return case when invitable(c, f, p_skipped, p_juror, v_person) then v_person end;
end $$;
