-- Assignment (S2.1): a case's workflow asks for jurors whenever some are missing. What is missing is reckoned under
-- the case's lock each time, so a round that is repeated invites nobody too many.

-- Invites as many random jurors as the case lacks, by the same rules as claims. Each has until the answer time;
-- who declines or stays silent isn't asked again for this case.
-- p_tokens  one for each who may be invited at most
-- (Without sequential scans: the plan made while there were no leases is kept when there are many.)
create or replace function invite_jurors(p_id text, p_tokens text[]) returns integer language plpgsql
set enable_seqscan = off as $$
declare
  i item;
  f case_file;
  c court;
  v_missing integer;
  v_invited integer := 0;
  v_juror text;
begin
  select * into i from item where kind = 'case' and id = p_id and inviting for update;
  if not found then return 0; end if;
  select * into f from case_file where id = p_id;
  select * into c from court where name = f.court;
  v_missing := least(c.assign_jurors - f.holds, case_room(f, c), cardinality(p_tokens));
  for tries in 1 .. v_missing * 3 loop
    exit when v_invited = v_missing;
    v_juror := any_juror(c, f, i.skipped, random());
    exit when v_juror is null;
    if invite_juror(c, f, i.skipped, v_juror, p_tokens[v_invited + 1]) then v_invited := v_invited + 1; end if;
  end loop;
  if v_invited > 0 then update item set version = nextval('item_version') where kind = 'case' and id = p_id; end if;
  return v_invited;
end $$;

-- The first juror from a random place of the list on who may be asked; from its beginning if there is none. A thousand
-- are looked at and no more: where hardly anybody is free, the next round looks at others.
create or replace function any_juror(c court, f case_file, p_skipped text[], p_from double precision) returns text
language plpgsql set plan_cache_mode = force_generic_plan set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $$
declare
  v_id text;
begin
  for n in 1 .. 2 loop
    select j.id into v_id from (
      select id, person, dice from juror
       where court = c.name and list = c.list and eligible and invite
         and dice >= case n when 1 then p_from else 0 end and dice < case n when 1 then 1 else p_from end
       order by dice limit 1000) j
     where not exists (select from lease l where l.kind = 'case' and l.queue = c.name and l.slot = j.person and l.ended_at is null)
       and invitable(c, f, p_skipped, j.id, j.person)
     order by j.dice limit 1;
    exit when v_id is not null;
  end loop;
  return v_id;
end $$;

-- By the cheapest question first: most of a hundred thousand jurors are asked only one or two of them.
create or replace function invitable(c court, f case_file, p_skipped text[], p_juror text, p_person text) returns boolean
language plpgsql stable as $$
declare
  j juror_seen;
begin
  if p_person = any (p_skipped)
     or exists (select from lease where kind = 'case' and queue = c.name and slot = p_person and ended_at is null)
     or exists (select from lease where kind = 'case' and item_id = f.id and slot = p_person)
     or is_tired(c, p_person, 0, clock_timestamp())
     or exists (select from juror_day d where d.court = c.name and d.person = p_person
                   and d.day = (clock_timestamp() at time zone 'UTC')::date and d.invited >= c.invites_per_day)
     or (select count(*) from exposure e where e.court = c.name and e.person = p_person and e.case_id <> f.id
            and e.shown_at > clock_timestamp() - make_interval(secs => c.window_seconds)) >= c.window_cases then
    return false;
  end if;
  j := juror_seen(c, p_juror, p_person);
  return j.admitted and case_bar(f, j) is null
     and not exists (select from lease where kind = 'case' and queue = c.name and slot = any (j.ids) and ended_at is null);
end $$;

-- Invites one juror, unless somebody is just at work with the same person: then another one is as good.
create or replace function invite_juror(c court, f case_file, p_skipped text[], p_juror text, p_token text) returns boolean
language plpgsql as $$
declare
  v_person text;
  v_now timestamptz;
begin
  select person into v_person from juror where court = c.name and list = c.list and id = p_juror;
  if not pg_try_advisory_xact_lock(person_key('case', c.name, v_person)) then return false; end if;
  -- looked at once more, now that nobody else can change it
  if not invitable(c, f, p_skipped, p_juror, v_person) then return false; end if;
  v_now := clock_timestamp();
  perform hold_case(c, f.id, p_token, p_juror, v_person, v_now + make_interval(secs => c.answer_seconds), true, v_now);
  insert into juror_day as d (court, person, day, invited) values (c.name, v_person, (v_now at time zone 'UTC')::date, 1)
  on conflict (court, person, day) do update set invited = d.invited + 1;
  -- thrown again, so that nobody is asked more often for the gap before him
  update juror set dice = random() where court = c.name and list = c.list and id = p_juror;
  return true;
end $$;
