-- Cases (S2). A case's row is its lock: whatever changes its votes or leases holds it. Persons are locked before
-- it (claims), or only tried for after it (invitations), so that no transactions wait in a circle.

-- Writes into a case's row what follows from its votes and live leases: how many more may hold it, when something is
-- next due, whether jurors are to be invited. Every change of an open case ends here.
-- p_versioned  false: one of several steps of a transaction, of which the last gives the version
-- p_done       the person who has voted, skipped or declined: the row alone excludes them from now on
create or replace function recompute_case(
  p_id text, p_type text, p_actor text, p_data json, p_now timestamptz, p_versioned boolean default true,
  p_done text default null
) returns void language plpgsql as $$
declare
  f case_file;
  c court;
  v_live integer;
  v_first timestamptz;
begin
  select count(*), min(expires_at) into v_live, v_first from lease
   where kind = 'case' and item_id = p_id and ended_at is null;
  update case_file set holds = v_live where id = p_id returning * into f;
  select * into c from court where name = f.court;
  update item i
     set room = case_slots_left(f, c), inviting = case_invites(f, c), wake_at = least(i.deadline_at, v_first),
         rank = case_rank(c, i.priority, i.first_available_at),
         skipped = case when p_done is null then i.skipped else i.skipped || p_done end,
         attempts = i.attempts + (p_type in ('claimed', 'invited'))::integer,
         version = case when p_versioned then nextval('item_version') else i.version end, event_seq = i.event_seq + 1,
         last_event = p_type, last_actor = p_actor, last_data = p_data, updated_at = p_now
   where i.kind = 'case' and i.id = p_id;
end $$;

-- How many more may hold it: votes that can still change it, and the court's over-booking (S2.5). Gold is open to
-- all jurors, and never decided.
create or replace function case_slots_left(f case_file, c court) returns integer language sql immutable as $$
  select case when f.gold is null then f.votes_left + c.overbook - f.holds else 1 end
$$;

create or replace function case_invites(f case_file, c court) returns boolean language sql immutable as $$
  select f.gold is null and c.mode <> 'claim' and case_slots_left(f, c) > 0 and f.holds < c.assign_jurors
$$;

-- Its place among the open ones. Where claims begin at a random start, each change re-randomises the place, so that
-- gaps do not bias the selection.
create or replace function case_rank(c court, p_priority bigint, p_since timestamptz) returns bigint language plpgsql volatile as $$
begin
  return case when c.around then (random() * 4503599627370496)::bigint else item_rank('case', p_priority, p_since, null, false) end;
end $$;

-- Ends a case and the leases of all who still read it, in one transaction (S2.2, S2.6).
-- p_type  the event, also in the notices to its holders: decided, hung, invalidated
create or replace function end_case(
  p_id text, p_state text, p_type text, p_winner text, p_actor text, p_reason text, p_now timestamptz
) returns void language plpgsql set enable_seqscan = off as $$
declare
  f case_file;
begin
  with ended as (
    update lease set ended_at = greatest(p_now, granted_at), ended_by = p_actor,
                     why = case when expires_at <= p_now then 'expired' else 'closed' end
     where kind = 'case' and item_id = p_id and ended_at is null returning queue, holder)
  insert into notice (kind, item_id, queue, person, type, data)
  select 'case', p_id, queue, holder, 'lease_lost', json_build_object('reason', p_type, 'by', p_actor) from ended;

  update case_file set holds = 0, winner = p_winner, votes_left = case when p_winner is null then votes_left else 0 end
   where id = p_id returning * into f;
  update item i
     set state = p_state, ended_at = p_now, ended_by = p_actor, end_reason = p_reason,
         result = case when p_state = 'settled' then json_build_object('winner', p_winner, 'tally', f.tally) end,
         room = null, inviting = false, wake_at = null,
         telling = f.gold is null and (coalesce(i.callback, q.callback) is not null
                   or p_type = 'hung' and coalesce(c.fallback ?| array['court', 'queue'], false)),
         version = nextval('item_version'), event_seq = i.event_seq + 1, last_event = p_type, last_actor = p_actor,
         last_data = json_strip_nulls(json_build_object('winner', p_winner, 'tally', f.tally, 'reason', p_reason)), updated_at = p_now
    from queue q join court c on c.name = q.name
   where i.kind = 'case' and i.id = p_id and q.kind = 'case' and q.name = i.queue;
  if f.gold is not null or p_state = 'invalidated' then return; end if;

  -- the court's statistics: the vote distribution, how long it took, who agreed with it
  insert into tally (kind, queue, what, n)
  select 'case', f.court, s.what, s.n from item i cross join lateral (values
      ('votes ' || f.tally::text, 1),
      ('decide_ms', case when p_winner is null then 0 else extract(epoch from p_now - i.created_at) * 1000 end)) as s (what, n)
   where i.kind = 'case' and i.id = p_id and s.n <> 0;
  if p_winner is null then return; end if;
  insert into juror_record as r (court, person, judged, agreed)
  select f.court, person, 1, (option = p_winner)::integer from vote where case_id = p_id and counted order by person
  on conflict (court, person) do update set judged = r.judged + 1, agreed = r.agreed + excluded.agreed;
  -- some of them may have reached the court's eligibility threshold
  if (select bar_agreement from court where name = f.court) is not null then
    perform free_jurors(f.court, array(select person from vote where case_id = p_id and counted));
  end if;
end $$;

-- What votes mean, as the court's strategy in domain/courts.ts found: {winner, votesLeft, stage, hung, priority}.
create or replace function apply_verdict(p_id text, p_verdict jsonb, p_now timestamptz) returns void language plpgsql as $$
begin
  if p_verdict ->> 'winner' is not null then
    perform end_case(p_id, 'settled', 'decided', p_verdict ->> 'winner', 'court', null, p_now);
  elsif (p_verdict ->> 'hung')::boolean then
    perform end_case(p_id, 'expired', 'hung', null, 'court', 'nobody can win any more', p_now);
  end if;
end $$;

-- Ends open cases that need not be judged any more. Returns their ids.
create or replace function close_cases(p_ids text[], p_reason text, p_actor text) returns setof text language plpgsql as $$
declare
  v_id text;
begin
  for v_id in select id from item where kind = 'case' and id = any (p_ids) and ended_at is null order by id for update loop
    perform end_case(v_id, 'invalidated', 'invalidated', null, p_actor, p_reason, clock_timestamp());
    return next v_id;
  end loop;
end $$;

-- What time does to cases: the deadline first, then leases that have run out (docs/ARCHITECTURE.md, the two clocks).
create or replace function advance_cases(p_ids text[]) returns setof item language plpgsql as $$
declare
  i item;
  f case_file;
  c court;
  v_jurors json;
  v_deadline timestamptz;
  v_now timestamptz;
begin
  for i in select * from item where kind = 'case' and id = any (p_ids) and ended_at is null order by id for update loop
    v_now := clock_timestamp();
    continue when i.wake_at is null or i.wake_at > v_now;
    select * into f from case_file where id = i.id;
    select * into c from court where name = f.court;
    -- by the settings of now, also while a change of them is still being applied to all cases
    v_deadline := i.deadline_at;
    i.deadline_at := case_deadline(i, f);
    if i.deadline_at is distinct from v_deadline then
      update item set deadline_at = i.deadline_at where kind = 'case' and id = i.id;
    end if;
    if i.deadline_at <= v_now and not f.extended and c.fallback ? 'extendSeconds' then
      update case_file set extended = true where id = i.id;
      update item set deadline_at = v_now + make_interval(secs => (c.fallback ->> 'extendSeconds')::double precision)
       where kind = 'case' and id = i.id;
      perform recompute_case(i.id, 'extended', 'system', c.fallback::json, v_now);
    elsif i.deadline_at <= v_now then
      perform end_case(i.id, 'expired', 'hung', null, 'system', 'deadline', v_now);
    else
      with ended as (
        update lease set ended_at = greatest(v_now, granted_at), why = 'expired', ended_by = 'system'
         where kind = 'case' and item_id = i.id and ended_at is null and expires_at <= v_now returning queue, holder
      ), noticed as (
        insert into notice (kind, item_id, queue, person, type, data)
        select 'case', i.id, queue, holder, 'lease_lost', json_build_object('reason', 'expired', 'by', 'system') from ended
      ) select json_agg(holder) into v_jurors from ended;
      if v_jurors is null then perform recompute_case(i.id, 'changed', 'system', json_build_object('deadlineAt', i.deadline_at), v_now);
      else perform recompute_case(i.id, 'reclaimed', 'system', json_build_object('jurors', v_jurors), v_now);
      end if;
    end if;
    return query select * from item where kind = 'case' and id = i.id;
  end loop;
end $$;

-- When a case hangs: its own deadline, or the one that its court's settings give it. Gold never does.
create or replace function case_deadline(i item, f case_file) returns timestamptz language sql stable as $$
  select case when i.own_deadline or f.extended or f.gold is not null then i.deadline_at
              else i.created_at + make_interval(secs => q.deadline_seconds) end
    from queue q where q.kind = 'case' and q.name = f.court
$$;

-- The version of a court's settings, which stay until this transaction ends: what is decided by them is
-- decided before they are withdrawn. To be called after the locks of items, because replacing settings waits for none.
create or replace function lock_settings(p_court text) returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(person_key('court settings', p_court, ''));
  return (select settings_version from queue where kind = 'case' and name = p_court);
end $$;

-- Applies a court's new settings to open cases (S2.8), to all that they do not decide in one statement. A case gets a new
-- version only for what its workflow must receive: a wake time, or whether it lacks jurors.
-- p_found     [{id, votes, verdict}]: cases with votes since then are left alone, a vote is judged by the new settings itself
-- p_settings  the version of the settings that the verdicts were found for; nothing changes under others
-- Returns the cases with a new version, or one null when there are other settings.
create or replace function rejudge_cases(p_court text, p_found jsonb, p_settings bigint) returns setof text language plpgsql
set enable_seqscan = off as $$
declare
  v record;
  v_now timestamptz;
begin
  perform from item where kind = 'case' and id = any (array(select s.id from jsonb_to_recordset(p_found) as s (id text)))
    and ended_at is null order by id for update;
  if lock_settings(p_court) <> p_settings then
    return next null; return;
  end if;
  v_now := clock_timestamp();
  update case_file f
     set votes_left = (s.verdict ->> 'votesLeft')::integer, stage = (s.verdict ->> 'stage')::integer,
         tally = case when f.gold is null then f.tally else '{}' end
    from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
   where f.id = s.id and f.votes = s.votes and exists (select from item i where i.kind = 'case' and i.id = s.id and i.ended_at is null);

  for v in
    select s.id, s.verdict from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
      join case_file f on f.id = s.id and f.votes = s.votes join item i on i.kind = 'case' and i.id = s.id and i.ended_at is null
     where s.verdict ->> 'winner' is not null or (s.verdict ->> 'hung')::boolean order by s.id
  loop
    perform apply_verdict(v.id, v.verdict, v_now);
    return next v.id;
  end loop;

  return query
  with found as materialized (
    select i.id, n.*, n.deadline_at is distinct from i.deadline_at or n.inviting <> i.inviting as versioned,
           n.deadline_at is distinct from i.deadline_at as other_deadline, c as court,
           -- it has a place by its age where the place is to be random, or the other way round
           (i.rank = item_rank('case', n.priority, i.first_available_at, null, false)) = c.around as moves
      from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
      join case_file f on f.id = s.id and f.votes = s.votes join item i on i.kind = 'case' and i.id = s.id and i.ended_at is null
      join court c on c.name = p_court
     cross join lateral (select (s.verdict ->> 'priority')::bigint as priority, case_deadline(i, f) as deadline_at,
                                case_slots_left(f, c) as room, case_invites(f, c) as inviting) n
  ), changed as (
    update item i
       set room = n.room, inviting = n.inviting, priority = n.priority, deadline_at = n.deadline_at, updated_at = v_now,
           rank = case when n.moves then case_rank(n.court, n.priority, i.first_available_at) else i.rank end,
           wake_at = case when n.other_deadline then least(n.deadline_at, (
                       select min(l.expires_at) from lease l where l.kind = 'case' and l.item_id = i.id and l.ended_at is null))
                          else i.wake_at end,
           version = case when n.versioned then nextval('item_version') else i.version end,
           event_seq = i.event_seq + n.versioned::integer,
           last_event = case when n.versioned then 'changed' else i.last_event end,
           last_actor = case when n.versioned then 'system' else i.last_actor end,
           last_data = case when n.versioned then json_build_object('deadlineAt', n.deadline_at, 'inviting', n.inviting) else i.last_data end
      from found n
     where i.kind = 'case' and i.id = n.id
       and (n.moves or n.versioned or (n.room, n.priority) is distinct from (i.room, i.priority))
    returning i.id, n.versioned)
  select id from changed where versioned;
end $$;
