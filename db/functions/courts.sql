-- Who may judge what, and how cases are handed out (S2.1, S2.3–S2.5).

-- A juror as the court's list of today has them. An unlisted account counts as a person of its own and is not admitted.
create or replace function juror_seen(c court, p_juror text, p_person text) returns juror_seen language plpgsql stable as $$
declare
  v_person text;
  v_eligible boolean;
  v_newcomer boolean := false;
  r juror_record;
begin
  select person, eligible into v_person, v_eligible from juror where court = c.name and list = c.list and id = p_juror;
  v_person := coalesce(v_person, p_person);
  if v_eligible and c.bar_agreement is not null then
    select * into r from juror_record where court = c.name and person = v_person;
    v_newcomer := coalesce(r.judged, 0) < c.bar_after and not c.bar_newcomers;
    v_eligible := case when coalesce(r.judged, 0) < c.bar_after then c.bar_newcomers
                       else r.agreed >= c.bar_agreement * r.judged end;
  end if;
  return row(v_person,
             array(select id from juror where court = c.name and list = c.list and person = v_person) || p_juror,
             coalesce(v_eligible, false), v_newcomer)::juror_seen;
end $$;

-- Whether the court admits this person to this case: newcomers of a court of proven jurors prove themselves on gold.
create or replace function may_judge(f case_file, j juror_seen) returns boolean language sql immutable as $$
  select j.admitted or j.newcomer and f.gold is not null
$$;

-- Why this person may not judge this case, through whichever account: null, conflict_of_interest or already_voted. Ids of
-- parties and jurors are one namespace, so a party's other accounts are found by the list.
create or replace function case_exclusion(f case_file, j juror_seen) returns text language plpgsql stable as $$
begin
  if f.party_ids && j.ids or j.person = any (f.party_persons) then return 'conflict_of_interest'; end if;
  if exists (select from vote where case_id = f.id and (person = j.person or juror = any (j.ids))) then return 'already_voted'; end if;
  return null;
end $$;

-- Whether a key that is bound to a subject may use this lease: its own, or that of another account of the person.
create or replace function speaks_for(c court, p_subject text, l lease) returns boolean language sql stable as $$
  select p_subject is null or p_subject = l.holder
      or exists (select from juror where court = c.name and list = c.list and id = p_subject and person = l.slot)
$$;

-- Whether the day's limit leaves no further vote, live holds included (S2.10).
create or replace function reached_daily_limit(c court, p_person text, p_held integer, p_now timestamptz) returns boolean language sql stable as $$
  select coalesce((select d.votes from juror_day d where d.court = c.name and d.person = p_person
                      and d.day = (p_now at time zone 'UTC')::date), 0) + p_held >= c.votes_per_day
$$;

-- Hands jurors the cases that they hold already, or new ones (S2.4, S2.5). Persons are locked first and everything
-- is read after that, so that eight accounts of one person are one person. No case is waited for: a claim may
-- have another one locked by then, and two that wait for each other's are a deadlock.
-- p_tokens  one for each of p_jurors, of whom none is there twice
-- outcome   held, resumed, busy (all candidates are locked by other claims, or another account of the person claims in this
--           call: retry), or why there is nothing: notEligible, fatigue, windowFull, none; null: a case of which a hold ended
create or replace function claim_cases(p_court text, p_jurors text[], p_tokens text[])
returns table (juror text, outcome text, id text, token text, expires_at timestamptz) language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  x record;
  c court;
  j juror_seen;
  v_seen juror_seen[];
  v_now timestamptz;
  v_seconds double precision;
  v_holds case_hold[] := '{}';
begin
  select * into c from court where name = p_court;
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('case', p_court, (juror_seen(c, n.juror, n.juror)).person) as key from unnest(p_jurors) as n (juror) order by 1) s;
  v_seen := array(select juror_seen(c, n.juror, n.juror) from unnest(p_jurors) with ordinality as n (juror, no) order by n.no);
  return query select null::text, null::text, e, null::text, null::timestamptz from unnest(end_lost_holds(c, v_seen)) e;
  select q.lease_seconds into v_seconds from queue q where q.kind = 'case' and q.name = p_court;
  for x in select n.juror, n.token, n.no from unnest(p_jurors, p_tokens) with ordinality as n (juror, token, no) loop
    juror := x.juror;
    j := v_seen[x.no];
    -- also what an account held on its own, before the list found it to be this person's
    select l.item_id, l.token, l.expires_at into id, token, expires_at from lease l
     where l.kind = 'case' and l.queue = p_court and l.slot = any (j.ids || j.person) and l.ended_at is null order by l.expires_at desc limit 1;
    if found then
      outcome := 'resumed';
    elsif exists (select from unnest(v_holds) h where h.person = j.person) then
      outcome := 'busy';
    else
      select k.outcome, k.id into outcome, id from choose_case(c, j, v_holds, clock_timestamp()) k;
      if outcome = 'held' then
        -- when the case is locked: votes wait for no person's lock, and a hold begins after the end of the one before
        v_now := clock_timestamp();
        select x.token, v_now + make_interval(secs => v_seconds) into token, expires_at;
        v_holds := v_holds || (id, x.token, x.juror, j.person, expires_at)::case_hold;
      end if;
    end if;
    return next;
  end loop;
  if v_holds <> '{}' then perform hold_cases(c, v_holds, false, v_now); end if;
end $$;

-- Chooses and locks a case for a juror who holds none. `p_holds` are claims of the same call: their cases have that much less
-- capacity.
-- outcome  held, busy, or why there is none, as above
create or replace function choose_case(c court, j juror_seen, p_holds case_hold[], p_now timestamptz, out outcome text, out id text)
language plpgsql as $$
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
  if c.mode <> 'assign' then id := pick_case(c, j, v_shown, v_free, array(select h.id from unnest(p_holds) h), p_now); end if;
  if id is null and v_free <= 0 then insert into tally_line (kind, queue, what, n) values ('case', c.name, 'window_hits', 1); end if;
  outcome := case when id = '' then 'busy' when id is not null then 'held' when v_free <= 0 then 'windowFull'
                  when not j.admitted then 'notEligible' else 'none' end;
  if outcome <> 'held' then id := null; end if;
end $$;

-- Ends what these persons hold and may not vote on any more: leases that have run out and that no clock has ended yet,
-- and those of jurors who have left the list or turned out to be a party or to have voted. Returns their cases.
create or replace function end_lost_holds(c court, p_seen juror_seen[]) returns text[] language plpgsql set enable_seqscan = off as $$
declare
  x record;
  v_reason text;
  v_ended text[] := '{}';
begin
  for x in
    select l, f, (s.person, s.ids, s.admitted, s.newcomer)::juror_seen as j from unnest(p_seen) as s
      join lease l on l.kind = 'case' and l.queue = c.name and l.slot = any (s.ids || s.person) and l.ended_at is null
      join case_file f on f.id = l.item_id order by l.item_id
  loop
    v_reason := case when (x.l).expires_at <= clock_timestamp() then 'expired' else vote_exclusion(x.f, x.j) end;
    continue when v_reason is null;
    perform from item where kind = 'case' and id = (x.l).item_id for update;
    v_ended := v_ended || (x.l).item_id;
    if v_reason = 'expired' then perform advance_cases(array[(x.l).item_id]);
    else perform revoke_hold(x.l, v_reason, 'claim', clock_timestamp());
    end if;
  end loop;
  return v_ended;
end $$;

-- Why a vote of this person on this case would not count: null, forbidden, conflict_of_interest or already_voted.
create or replace function vote_exclusion(f case_file, j juror_seen) returns text language sql stable as $$
  select case when not may_judge(f, j) then 'forbidden' else case_exclusion(f, j) end
$$;

-- Ends a live hold whose juror may not judge the case any more. The caller holds the case's lock.
create or replace function revoke_hold(l lease, p_reason text, p_attempt text, p_now timestamptz) returns void language plpgsql as $$
begin
  update lease set ended_at = greatest(p_now, granted_at), why = 'revoked', ended_by = 'system'
   where token = l.token and ended_at is null;
  if found then
    perform recompute_cases(
      array[(l.item_id, l.holder, json_build_object('attempt', p_attempt, 'reason', p_reason), null)::item_line], 'refused', p_now);
  end if;
end $$;

-- Locks a case with slots left that the person may judge. In a window of m cases every position is as likely as any
-- other: one that is taken gives the case shown there, a free one gives a case not shown yet. So repeated claims give
-- random ones of at most m cases, and never lead to a chosen one.
-- Like the next two it returns null where there is none, and '' where other claims have all of them locked.
-- p_held  what claims of the same call have been given; a case once for each
create or replace function pick_case(c court, j juror_seen, p_shown text[], p_free integer, p_held text[], p_now timestamptz) returns text
language plpgsql set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_places text[];
  v_id text;
  v_found text;
begin
  if p_free is null then return pick_new(c, j, p_shown, p_held, p_now); end if;
  select array_agg(s.id order by random()) into v_places from (
    select i.id from unnest(p_shown) as x (id) cross join lateral (select * from item where kind = 'case' and id = x.id offset 0) i
      join case_file f on f.id = i.id
     where i.state = 'ready' and i.capacity > 0 and (i.deadline_at is null or i.deadline_at > p_now)
       and not j.person = any (i.skipped) and may_judge(f, j) and case_exclusion(f, j) is null
    union all select null from generate_series(1, p_free)) s;
  for n in 1 .. coalesce(cardinality(v_places), 0) loop
    v_id := case when v_places[n] is null then pick_new(c, j, p_shown, p_held, p_now) else lock_first(v_places[n:n], p_held) end;
    if v_id <> '' then return v_id; end if;
    v_found := coalesce(v_id, v_found);
  end loop;
  return v_found;
end $$;

-- A case not shown yet, in the order of the court's way to pick. One claim in so many goes by gold first; a newcomer's
-- goes by nothing else.
create or replace function pick_new(c court, j juror_seen, p_shown text[], p_held text[], p_now timestamptz) returns text language plpgsql as $$
declare
  v_gold boolean := not j.admitted or random() < c.gold_share;
  v_id text;
  v_found text;
begin
  for n in 0 .. j.admitted::integer loop
    v_id := lock_first(case when v_gold = (n = 0) then next_gold(c, j, p_shown) else next_cases(c, j, p_shown, p_held, p_now) end, p_held);
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
         and (i.capacity > cardinality(array_positions(p_held, i.id)) or i.capacity > 0 and is_gold(i.id)) offset 0 for update skip locked) i
     order by n.no limit 1), '');
end $$;

create or replace function next_gold(c court, j juror_seen, p_shown text[]) returns text[] language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  -- most courts have none: nothing else is read then
  if c.gold_share = 0 and j.admitted or not exists (select from case_file where court = c.name and gold is not null) then return '{}'; end if;
  return array(
    select i.id from case_file f cross join lateral (select * from item where kind = 'case' and id = f.id offset 0) i
     where f.court = c.name and f.gold is not null and i.state = 'ready' and f.id <> all (p_shown)
       and not j.person = any (i.skipped) and case_exclusion(f, j) is null
     order by random() limit 8);
end $$;

-- The next few cases with slots left that the person may judge: in order, or from a random start, with wrap-around. In
-- one statement, because a case that is taken meanwhile changes its place. What excludes the person is written out: as
-- a function it would be called for each case that they have judged already.
create or replace function next_cases(c court, j juror_seen, p_shown text[], p_held text[], p_now timestamptz) returns text[] language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_sort = off as $$
declare
  v_from bigint := case when c.random_start then (random() * 4503599627370496)::bigint else -9223372036854775808 end;
begin
  return array(
    (select i.id from item i join case_file f on f.id = i.id
      where i.kind = 'case' and i.queue = c.name and i.state = 'ready' and i.capacity > 0 and f.gold is null and i.rank >= v_from
        and i.capacity > cardinality(array_positions(p_held, i.id))
        and (i.deadline_at is null or i.deadline_at > p_now)
        and i.id <> all (p_shown) and not j.person = any (i.skipped)
        and not f.party_ids && j.ids and not j.person = any (f.party_persons)
        and not exists (select from vote v where v.case_id = i.id and (v.person = j.person or v.juror = any (j.ids)))
      order by i.rank, i.seq limit 8)
    union all
    (select i.id from item i join case_file f on f.id = i.id
      where i.kind = 'case' and i.queue = c.name and i.state = 'ready' and i.capacity > 0 and f.gold is null and i.rank < v_from
        and i.capacity > cardinality(array_positions(p_held, i.id))
        and (i.deadline_at is null or i.deadline_at > p_now)
        and i.id <> all (p_shown) and not j.person = any (i.skipped)
        and not f.party_ids && j.ids and not j.person = any (f.party_persons)
        and not exists (select from vote v where v.case_id = i.id and (v.person = j.person or v.juror = any (j.ids)))
      order by i.rank, i.seq limit 8)
    limit 8);
end $$;

-- Puts holds on locked cases. The first showing begins the person's window for a case; a later one inside it does not.
create or replace function hold_cases(c court, p_holds case_hold[], p_invited boolean, p_now timestamptz) returns void language plpgsql as $$
begin
  insert into lease (token, kind, item_id, queue, holder, slot, granted_at, expires_at, invited)
  select h.token, 'case', h.id, c.name, h.juror, h.person, p_now, h.until, p_invited from unnest(p_holds) h;
  if c.window_cases is not null then
    insert into exposure as e (court, person, case_id, shown_at) select c.name, h.person, h.id, p_now from unnest(p_holds) h
    on conflict (court, person, case_id) do update set shown_at = p_now where e.shown_at <= p_now - make_interval(secs => c.window_seconds);
  end if;
  perform recompute_cases(array(
    select (h.id, case when p_invited then 'system' else h.juror end,
            case when p_invited then json_build_object('juror', h.juror) end, null)::item_line from unnest(p_holds) h),
    case when p_invited then 'invited' else 'claimed' end, p_now, not p_invited);
end $$;

-- Why there is nothing for a juror, as numbers of cases up to 1,000.
create or replace function case_reasons(p_court text, p_juror text)
returns table (no_votes_left integer, voted integer, party integer, skipped integer, open integer) language plpgsql stable
set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  c court;
  j juror_seen;
begin
  select * into c from court where name = p_court;
  j := juror_seen(c, p_juror, p_juror);
  return query
  with waiting as materialized (
    select i.capacity, j.person = any (i.skipped) as skipped,
           f.party_ids && j.ids or j.person = any (f.party_persons) as party,
           exists (select from vote v where v.case_id = i.id and (v.person = j.person or v.juror = any (j.ids))) as voted
      from item i join case_file f on f.id = i.id
     where i.kind = 'case' and i.queue = p_court and i.state = 'ready' and f.gold is null limit 1000)
  select count(*) filter (where w.capacity <= 0)::integer, count(*) filter (where w.voted)::integer,
         count(*) filter (where w.party)::integer, count(*) filter (where w.skipped and not w.voted)::integer, count(*)::integer
    from waiting w;
end $$;
