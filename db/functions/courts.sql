-- Who may judge what, and how cases are handed out (S2.1, S2.3–S2.5).

-- A juror as the court's list of today has them. An unlisted account counts as a person of its own and is not admitted.
create or replace function juror_seen(c court, p_juror text, p_person text) returns juror_seen
language plpgsql stable as $$
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
             array(select k from (select id from juror where court = c.name and list = c.list and person = v_person
                                  union all select p_juror) a cross join lateral unnest(known_as(a.id)) k),
             coalesce(v_eligible, false), v_newcomer, known_as(v_person))::juror_seen;
end $$;

-- Whether the court admits this person to this case: newcomers of a court of proven jurors prove themselves on gold.
create or replace function may_judge(f case_file, j juror_seen) returns boolean language sql immutable as $$
  select j.admitted or j.newcomer and f.gold is not null
$$;

-- Why this person may not judge this case through any account: null, conflict_of_interest or already_voted. Ids of
-- parties and jurors are one namespace, so a party's other accounts are found in the list.
create or replace function case_exclusion(f case_file, j juror_seen) returns text language plpgsql stable as $$
begin
  if f.party_ids && j.ids or j.persons && f.party_persons then return 'conflict_of_interest'; end if;
  if exists (select from vote where case_id = f.id and (person = any (j.persons) or juror = any (j.ids))) then
    return 'already_voted';
  end if;
  return null;
end $$;

-- Whether a key that is bound to a subject may use this lease: its own, or that of another account of the person.
create or replace function speaks_for(c court, p_subject text, l lease) returns boolean language sql stable as $$
  select p_subject is null or p_subject = l.holder
      or exists (select from juror where court = c.name and list = c.list and id = p_subject and person = l.slot)
$$;

-- The day of a court, whose midnight is that of its time zone (S2.10).
create or replace function court_day(c court, p_at timestamptz) returns date language sql stable as $$
  select (p_at at time zone c.timezone)::date
$$;

-- Whether the day's limit leaves no further vote, live holds included (S2.10).
create or replace function reached_daily_limit(c court, p_person text, p_held integer, p_now timestamptz)
returns boolean language sql stable as $$
  select coalesce((select d.votes from juror_day d where d.court = c.name and d.person = p_person
                      and d.day = court_day(c, p_now)), 0) + p_held >= c.votes_per_day
$$;

-- Hands jurors the cases that they hold already, or new ones (S2.4, S2.5). Persons are locked first and everything is
-- read after that, so that eight accounts of one person count as one person. It waits for no case: a claim may have
-- locked another one by then, and two claims that wait for each other deadlock.
-- p_tokens  one for each of p_jurors, who are distinct
-- outcome   held, resumed, busy (retry: all candidates are locked by other claims, or another account of the person
--           claims in this call), or why there is nothing: notEligible, fatigue, windowFull, none; null: a case whose
--           hold ended
create or replace function claim_cases(p_court text, p_jurors text[], p_tokens text[])
returns table (juror text, outcome text, id text, token text, expires_at timestamptz)
language plpgsql set enable_hashjoin = off set enable_mergejoin = off as $$
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
  perform lock_jurors(p_court, false);
  select * into c from court where name = p_court;
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('case', p_court, (juror_seen(c, n.juror, n.juror)).person) as key
      from unnest(p_jurors) as n (juror) order by 1) s;
  if is_due('case', array[p_court]) then
    return query select null::text, null::text, a.id, null::text, null::timestamptz
                   from advance_due('case', array[p_court]) a;
  end if;
  v_seen := array(
    select juror_seen(c, n.juror, n.juror) from unnest(p_jurors) with ordinality as n (juror, no) order by n.no);
  return query select null::text, null::text, e, null::text, null::timestamptz from unnest(end_lost_holds(c, v_seen)) e;
  select q.lease_seconds into v_seconds from queue q where q.kind = 'case' and q.name = p_court;
  for x in select n.juror, n.token, n.no from unnest(p_jurors, p_tokens) with ordinality as n (juror, token, no) loop
    juror := x.juror;
    j := v_seen[x.no];
    -- also what an account held on its own, before the list found it to be this person's
    select l.item_id, l.token, l.expires_at into id, token, expires_at from lease l
     where l.kind = 'case' and l.queue = p_court and l.slot = any (j.ids || j.person) and l.ended_at is null
     order by l.granted_at, l.token limit 1;
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

-- Ends what these persons hold and may not vote on any more: leases that have run out and that no clock has ended yet,
-- and those of jurors who have left the list or turned out to be a party or to have voted. Returns their cases.
create or replace function end_lost_holds(c court, p_seen juror_seen[]) returns text[] language plpgsql as $$
declare
  x record;
  v_reason text;
  v_ended text[] := '{}';
begin
  for x in
    select l, f, (s.person, s.ids, s.admitted, s.newcomer, s.persons)::juror_seen as j from unnest(p_seen) as s
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

-- Who hands out holds of a court, or changes its jurors, calls this first: a hold is either granted by the list of now,
-- or found and ended by the transaction that changes the list. To be called before the locks of persons and items.
create or replace function lock_jurors(p_court text, p_changes boolean) returns void language plpgsql as $$
begin
  if p_changes then perform pg_advisory_xact_lock(person_key('court jurors', p_court, ''));
  else perform pg_advisory_xact_lock_shared(person_key('court jurors', p_court, ''));
  end if;
end $$;

-- Ends the live holds of a court whose jurors may not vote any more (S2.3): all of them, those of these persons or
-- accounts, or those of one case. Returns their cases.
-- p_wait  false: the caller has locked other cases, so those that are locked are left to the vote
create or replace function end_barred_holds(
  p_court text, p_persons text[], p_case text default null, p_wait boolean default true
) returns setof text language plpgsql as $$
declare
  x record;
begin
  for x in
    select l, vote_exclusion(f, juror_seen(c, l.holder, l.slot)) as reason
      from court c join lease l on l.kind = 'case' and l.queue = c.name and l.ended_at is null
      join case_file f on f.id = l.item_id
     where c.name = p_court and (p_case is null or l.item_id = p_case)
       and (p_persons is null or l.holder = any (p_persons) or l.slot = any (p_persons) or exists (
              select from juror n where n.court = c.name and n.list = c.list and n.id = l.holder
                 and n.person = any (p_persons)))
     order by l.item_id
  loop
    continue when x.reason is null;
    if p_wait then perform from item where kind = 'case' and id = (x.l).item_id for update;
    else perform from item where kind = 'case' and id = (x.l).item_id for update skip locked;
    end if;
    continue when not found;
    perform revoke_hold(x.l, x.reason, 'hold', clock_timestamp());
    return next (x.l).item_id;
  end loop;
end $$;

-- Persons whose records have changed may have reached their court's eligibility threshold, or fallen below it.
create or replace function records_changed(p_court text, p_persons text[]) returns void language plpgsql as $$
begin
  perform free_jurors(p_court, p_persons);
  perform end_barred_holds(p_court, p_persons, null, false);
end $$;

-- Why a vote of this person on this case would not count: null, forbidden, conflict_of_interest or already_voted.
create or replace function vote_exclusion(f case_file, j juror_seen) returns text language sql stable as $$
  select case when not may_judge(f, j) then 'forbidden' else case_exclusion(f, j) end
$$;

-- Ends a live hold whose juror may not judge the case any more. The caller holds the case's lock.
create or replace function revoke_hold(l lease, p_reason text, p_attempt text, p_now timestamptz) returns void
language plpgsql as $$
begin
  update lease set ended_at = greatest(p_now, granted_at), why = 'revoked', ended_by = 'system'
   where token = l.token and ended_at is null;
  if found then
    insert into notice (kind, item_id, queue, person, type, data)
    values ('case', l.item_id, l.queue, l.holder, 'lease_lost',
            json_build_object('reason', 'revoked', 'by', 'system'));
    perform recompute_cases(
      array[(l.item_id, l.holder, json_build_object('attempt', p_attempt, 'reason', p_reason), null)::item_line],
      'refused', p_now);
  end if;
end $$;

-- Puts holds on locked cases. The first showing begins the person's window for a case; a later one inside it does not.
create or replace function hold_cases(c court, p_holds case_hold[], p_invited boolean, p_now timestamptz) returns void
language plpgsql as $$
begin
  insert into lease (token, kind, item_id, queue, holder, slot, granted_at, expires_at, invited)
  select h.token, 'case', h.id, c.name, h.juror, h.person, p_now, h.until, p_invited from unnest(p_holds) h;
  if c.window_cases is not null then
    insert into exposure as e (court, person, case_id, shown_at)
    select c.name, h.person, h.id, p_now from unnest(p_holds) h
    on conflict (court, person, case_id) do update set shown_at = p_now
     where e.shown_at <= p_now - make_interval(secs => c.window_seconds);
  end if;
  perform recompute_cases(array(
    select (h.id, case when p_invited then 'system' else h.juror end,
            case when p_invited then json_build_object('juror', h.juror) end, null)::item_line from unnest(p_holds) h),
    case when p_invited then 'invited' else 'claimed' end, p_now);
end $$;

create or replace function has_open_cases(p_court text) returns boolean language sql stable as $$
  select exists (select from item i join case_file f on f.id = i.id and f.gold is null
                  where i.kind = 'case' and i.queue = p_court and i.state = 'ready')
$$;

-- Deletes a court without open cases. Its settings stay, by which its final cases are shown and delivered, and the row
-- in `queue` stays for a case that another node adds at this moment: the court then exists again
-- (docs/decisions/0016-deleted-queues-leave-a-row.md).
-- outcome  deleted, used, not_found; a row for each gold case that is closed, at least one
create or replace function delete_court(p_name text, p_actor text) returns table (outcome text, id text)
language plpgsql as $$
declare
  v_gold text[];
begin
  perform lock_jurors(p_name, true);
  perform from queue q where q.kind = 'case' and q.name = p_name and is_there(q);
  outcome := case when not found then 'not_found' when has_open_cases(p_name) then 'used' else 'deleted' end;
  if outcome <> 'deleted' then
    return next; return;
  end if;
  v_gold := array(select f.id from case_file f where f.court = p_name and f.gold is not null);
  return query select outcome, g.id from (values (null)) one
                 left join close_cases(v_gold, 'withdrawn', p_actor, null) as g (id) on true;
  -- behind the locks of cases, as for votes
  perform pg_advisory_xact_lock(person_key('court settings', p_name, ''));
  delete from juror_list where court = p_name;
  delete from juror where court = p_name;
  delete from juror_record where court = p_name;
  delete from juror_day where court = p_name;
  delete from exposure where court = p_name;
  -- rows of freed_juror are left to invitations, which lock them before the court's jurors
  -- what an upload under way still writes is of a list that does not count
  update court set list = nextval('juror_list_number') where name = p_name;
  update queue set deleted_at = clock_timestamp(), refresh_pending = false, seq = default
   where kind = 'case' and name = p_name;
end $$;

-- Why there is nothing for a juror, as numbers of cases up to 1,000.
-- gold  that they have voted on or skipped, which is not among these: how long it seems to be open is not known here
create or replace function case_reasons(p_court text, p_juror text)
returns table (no_votes_left integer, voted integer, party integer, skipped integer, open integer, gold text[])
language plpgsql stable set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  c court;
  j juror_seen;
begin
  select * into c from court where name = p_court;
  j := juror_seen(c, p_juror, p_juror);
  return query
  with waiting as materialized (
    select i.capacity, j.persons && i.skipped as skipped,
           (f.party_ids && j.ids or j.persons && f.party_persons) and not decided_before(i.look, j) as party,
           decided_before(i.look, j) or exists (
             select from vote v where v.case_id = i.id
                and (v.person = any (j.persons) or v.juror = any (j.ids))) as voted
      from item i join case_file f on f.id = i.id
     where i.kind = 'case' and i.queue = p_court and i.state = 'ready' and f.gold is null limit 1000)
  select count(*) filter (where w.capacity <= 0)::integer, count(*) filter (where w.voted)::integer,
         count(*) filter (where w.party)::integer,
         count(*) filter (where w.skipped and not w.voted)::integer, count(*)::integer,
         array(select i.id from case_file f cross join lateral (
                 select x.id, x.skipped from item x where x.kind = 'case' and x.id = f.id and x.state = 'ready'
                 offset 0) i
                where f.court = p_court and f.gold is not null
                  and (j.persons && i.skipped or case_exclusion(f, j) is not null) limit 1000)
    from waiting w;
end $$;
