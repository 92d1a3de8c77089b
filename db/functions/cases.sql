-- Cases (S2). A case's row is its lock: whatever changes its votes or leases holds it. Persons are locked before
-- it (claims), or only tried for after it (invitations), so nobody waits in a circle.

-- What follows from a case's votes and live leases, kept in its row: its room, when something is next due, whether
-- jurors are to be invited. Every change of an open case ends here.
-- p_versioned  false: one of several steps of a transaction, of which the last gives the version
-- p_done       the person who has voted, skipped or declined: passed over from now on by a look at the row alone
create or replace function keep_case(
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
     set room = case_room(f, c), inviting = case_invites(f, c), wake_at = least(i.deadline_at, v_first),
         rank = case_rank(c, i.priority, i.first_available_at),
         skipped = case when p_done is null then i.skipped else i.skipped || p_done end,
         attempts = i.attempts + (p_type in ('claimed', 'invited'))::integer,
         version = case when p_versioned then nextval('item_version') else i.version end, event_seq = i.event_seq + 1,
         last_event = p_type, last_actor = p_actor, last_data = p_data, updated_at = p_now
   where i.kind = 'case' and i.id = p_id;
end $$;

-- How many more may hold it: votes that can still change it, and the court's over-booking (S2.5). Gold is for
-- everybody, and never decided.
create or replace function case_room(f case_file, c court) returns integer language sql immutable as $$
  select case when f.gold is null then f.votes_left + c.overbook - f.holds else 1 end
$$;

create or replace function case_invites(f case_file, c court) returns boolean language sql immutable as $$
  select f.gold is null and c.mode <> 'claim' and case_room(f, c) > 0 and f.holds < c.assign_jurors
$$;

-- Its place among the open ones. Where claims begin anywhere, each change throws the dice again, so that no
-- case is for ever behind a wide gap.
create or replace function case_rank(c court, p_priority bigint, p_since timestamptz) returns bigint language plpgsql volatile as $$
begin
  return case when c.around then (random() * 4503599627370496)::bigint else item_rank('case', p_priority, p_since, null, false) end;
end $$;

-- Ends a case and the leases of all who still read it, in one transaction (S2.2, S2.6).
-- p_type  the event, and what its holders are told: decided, hung, invalidated
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

  -- the court's statistics: how the votes fell, how long it took, who agreed with it
  insert into tally (kind, queue, what, n)
  select 'case', f.court, s.what, s.n from item i cross join lateral (values
      ('votes ' || f.tally::text, 1),
      ('decide_ms', case when p_winner is null then 0 else extract(epoch from p_now - i.created_at) * 1000 end)) as s (what, n)
   where i.kind = 'case' and i.id = p_id and s.n <> 0;
  if p_winner is null then return; end if;
  insert into juror_record as r (court, person, judged, agreed)
  select f.court, person, 1, (option = p_winner)::integer from vote where case_id = p_id and counted order by person
  on conflict (court, person) do update set judged = r.judged + 1, agreed = r.agreed + excluded.agreed;
  -- some of them may have reached the threshold of the court by this
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

-- Nobody needs to judge them any more.
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
  v_now timestamptz;
begin
  for i in select * from item where kind = 'case' and id = any (p_ids) and ended_at is null order by id for update loop
    v_now := clock_timestamp();
    continue when i.wake_at is null or i.wake_at > v_now;
    select * into f from case_file where id = i.id;
    select * into c from court where name = f.court;
    if i.deadline_at <= v_now and not f.extended and c.fallback ? 'extendSeconds' then
      update case_file set extended = true where id = i.id;
      update item set deadline_at = v_now + make_interval(secs => (c.fallback ->> 'extendSeconds')::double precision)
       where kind = 'case' and id = i.id;
      perform keep_case(i.id, 'extended', 'system', c.fallback::json, v_now);
    elsif i.deadline_at <= v_now then
      perform end_case(i.id, 'expired', 'hung', null, 'system', 'deadline', v_now);
    else
      with ended as (
        update lease set ended_at = greatest(v_now, granted_at), why = 'expired', ended_by = 'system'
         where kind = 'case' and item_id = i.id and ended_at is null and expires_at <= v_now returning queue, holder
      ), told as (
        insert into notice (kind, item_id, queue, person, type, data)
        select 'case', i.id, queue, holder, 'lease_lost', json_build_object('reason', 'expired', 'by', 'system') from ended
      ) select json_agg(holder) into v_jurors from ended;
      perform keep_case(i.id, 'reclaimed', 'system', json_build_object('jurors', v_jurors), v_now);
    end if;
    return query select * from item where kind = 'case' and id = i.id;
  end loop;
end $$;

-- A court's open cases under its settings of today: what they decide is decided now, and nothing is reopened (S2.8).
-- p_found  [{id, votes, verdict}]; a case that got a vote meanwhile was judged by the new settings then
create or replace function rejudge_cases(p_court text, p_found jsonb) returns setof text language plpgsql as $$
declare
  c court;
  f case_file;
  v record;
begin
  select * into c from court where name = p_court;
  for v in
    select i.id, i.room, i.inviting, i.priority, i.rank, i.first_available_at, i.deadline_at, s.votes, s.verdict,
           case when i.own_deadline then i.deadline_at else i.created_at + make_interval(secs => q.deadline_seconds) end as due_at
      from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
      join item i on i.kind = 'case' and i.id = s.id and i.ended_at is null
      join queue q on q.kind = 'case' and q.name = i.queue
     order by i.id for update of i
  loop
    select * into f from case_file where id = v.id;
    continue when f.votes <> v.votes;
    update case_file set votes_left = (v.verdict ->> 'votesLeft')::integer, stage = (v.verdict ->> 'stage')::integer,
           tally = case when gold is null then tally else '{}' end
     where id = v.id returning * into f;
    v.due_at := case when f.extended or f.gold is not null then v.deadline_at else v.due_at end;
    update item set priority = (v.verdict ->> 'priority')::bigint, deadline_at = v.due_at where kind = 'case' and id = v.id;
    perform apply_verdict(v.id, v.verdict, clock_timestamp());
    if v.verdict ->> 'winner' is not null or (v.verdict ->> 'hung')::boolean then
      return next v.id;
    elsif (v.room, v.inviting, v.priority, v.deadline_at)
          is distinct from (case_room(f, c), case_invites(f, c), (v.verdict ->> 'priority')::bigint, v.due_at)
       -- it has a place by its age where the dice are to be thrown, or the other way round
       or (v.rank = item_rank('case', (v.verdict ->> 'priority')::bigint, v.first_available_at, null, false)) = c.around then
      perform keep_case(v.id, 'changed', 'system', json_build_object('votesLeft', f.votes_left), clock_timestamp());
      return next v.id;
    end if;
  end loop;
end $$;
