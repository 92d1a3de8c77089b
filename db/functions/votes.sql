-- What holders of a case do (S2): vote, leave, renew. Each locks the case's row first.

-- A vote (S2.2, S2.3). The verdict was found for so many counted votes under these settings; when they have changed
-- meanwhile, it is to be found again.
-- outcome  counted, late (kept, does not count), repeated, again, or why not: not_found, foreign, not_open,
--          lease_lost, already_voted, conflict_of_interest, forbidden
create or replace function cast_vote(
  p_id text, p_token text, p_option text, p_comment text, p_subject text, p_votes integer, p_settings bigint, p_verdict jsonb
) returns table (outcome text, counted boolean) language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  i item;
  f case_file;
  c court;
  l lease;
  j juror_seen;
  v_vote vote;
  v_now timestamptz;
  v_reason text;
begin
  select * into i from item where kind = 'case' and id = p_id for update;
  if not found then return query select 'not_found', false; return; end if;
  v_now := clock_timestamp();
  select * into f from case_file where id = p_id;
  select * into c from court where name = f.court;
  select * into l from lease where token = p_token and kind = 'case' and item_id = p_id;
  if l.token is not null and not speaks_for(c, p_subject, l) then return query select 'foreign', false; return; end if;
  select * into v_vote from vote where token = p_token and case_id = p_id;
  if found and (v_vote.option, v_vote.comment) is not distinct from (p_option, p_comment) then
    return query select 'repeated', v_vote.counted; return;
  end if;
  if i.ended_at is null and (i.deadline_at <= v_now or l.ended_at is null and l.expires_at <= v_now) then
    -- due, but no clock has done it yet: done now, so that the answer can say so
    perform advance_cases(array[p_id]);
    select * into i from item where kind = 'case' and id = p_id;
    select * into l from lease where token = p_token;
  end if;
  if i.ended_at is not null then
    return query select case when late_vote(i, f, c, l, p_option, p_comment, v_now) then 'late' else 'not_open' end, false;
    return;
  end if;
  if l.token is null or v_vote.token is not null then return query select 'lease_lost', false; return; end if;

  j := juror_seen(c, l.holder, l.slot);
  v_reason := vote_exclusion(f, j);
  if v_reason is not null then
    perform revoke_hold(l, v_reason, 'vote', v_now);
    return query select v_reason, false; return;
  end if;
  if l.ended_at is not null then return query select 'lease_lost', false; return; end if;
  if f.gold is null and (f.votes <> p_votes or p_settings <> lock_settings(f.court)) then
    return query select 'again', false; return;
  end if;

  insert into vote (token, case_id, court, juror, person, option, comment, at, counted, gold)
  values (p_token, p_id, f.court, l.holder, j.person, p_option, p_comment, v_now, true, f.gold is not null);
  update lease set ended_at = greatest(v_now, granted_at), why = 'settled', ended_by = l.holder where token = p_token;
  insert into juror_day as d (court, person, day, votes) values (f.court, j.person, (v_now at time zone 'UTC')::date, 1)
  on conflict (court, person, day) do update set votes = d.votes + 1;
  if f.gold is null then
    update case_file set tally = tally || jsonb_build_object(p_option, coalesce((tally ->> p_option)::integer, 0) + 1), votes = votes + 1,
           votes_left = (p_verdict ->> 'votesLeft')::integer, stage = (p_verdict ->> 'stage')::integer
     where id = p_id;
    update item set priority = (p_verdict ->> 'priority')::bigint where kind = 'case' and id = p_id and priority <> (p_verdict ->> 'priority')::bigint;
    insert into tally (kind, queue, what, n) values ('case', f.court, 'votes', 1);
  else
    insert into juror_record as r (court, person, judged, agreed) values (f.court, j.person, 1, (p_option = f.gold)::integer)
    on conflict (court, person) do update set judged = r.judged + 1, agreed = r.agreed + excluded.agreed;
  end if;
  perform recompute_case(p_id, 'voted', l.holder, json_build_object('option', p_option), v_now,
    f.gold is not null or p_verdict ->> 'winner' is null and not (p_verdict ->> 'hung')::boolean,
    -- not of gold, which all jurors may judge: its row would grow with each of them
    case when f.gold is null then j.person end);
  if f.gold is null then perform apply_verdict(p_id, p_verdict, v_now); end if;
  return query select 'counted', true;
end $$;

-- A vote of a juror who still held the case when it was decided: wasted, counted as such once (S2.6), and kept as
-- evidence where the court wants that.
create or replace function late_vote(i item, f case_file, c court, l lease, p_option text, p_comment text, p_now timestamptz) returns boolean
language plpgsql as $$
begin
  if i.state <> 'settled' or l.why is distinct from 'closed' or l.refused_at is not null then return false; end if;
  update lease set refused_at = p_now where token = l.token;
  update case_file set wasted = wasted + 1 where id = f.id;
  insert into tally (kind, queue, what, n) values ('case', f.court, 'wasted', 1);
  update item set event_seq = event_seq + 1, last_event = 'refused', last_actor = l.holder, updated_at = p_now,
         last_data = json_build_object('attempt', 'vote', 'reason', 'decided')
   where kind = 'case' and id = i.id;
  if not c.record_late then return false; end if;
  insert into vote (token, case_id, court, juror, person, option, comment, at, counted, gold)
  values (l.token, i.id, f.court, l.holder, l.slot, p_option, p_comment, p_now, false, false) on conflict do nothing;
  return found;
end $$;

-- Ends a hold by its holder. `p_type` released, skipped or declined; a person who skips or declines is not given it again.
-- outcome  done, repeated, or why not: not_found, foreign, not_invited, not_open, lease_lost
create or replace function leave_case(p_id text, p_token text, p_subject text, p_type text) returns text language plpgsql as $$
declare
  i item;
  c court;
  l lease;
  v_now timestamptz;
begin
  select * into i from item where kind = 'case' and id = p_id for update;
  if not found then return 'not_found'; end if;
  v_now := clock_timestamp();
  select * into c from court where name = i.queue;
  select * into l from lease where token = p_token and kind = 'case' and item_id = p_id;
  if l.token is not null and not speaks_for(c, p_subject, l) then return 'foreign'; end if;
  if p_type = 'declined' and not coalesce(l.invited, true) then return 'not_invited'; end if;
  if l.why = 'released' and i.ended_at is null then return 'repeated'; end if;
  if i.ended_at is null and l.ended_at is null and l.expires_at <= v_now then
    perform advance_cases(array[p_id]);
    return 'lease_lost';
  end if;
  if i.ended_at is not null then return 'not_open'; end if;
  if l.token is null or l.ended_at is not null then return 'lease_lost'; end if;
  update lease set ended_at = greatest(v_now, granted_at), why = 'released', ended_by = l.holder where token = p_token;
  perform recompute_case(p_id, p_type, l.holder, null, v_now, true, case when p_type <> 'released' then l.slot end);
  return 'done';
end $$;

-- A full lease again. Neither version nor event moves, as with tickets.
create or replace function renew_hold(p_id text, p_token text, p_subject text) returns table (outcome text, expires_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  i item;
  c court;
  l lease;
  v_until timestamptz;
begin
  select * into i from item where kind = 'case' and id = p_id for update;
  if not found then return query select 'not_found', null::timestamptz; return; end if;
  select * into c from court where name = i.queue;
  select * into l from lease where token = p_token and kind = 'case' and item_id = p_id;
  if l.token is not null and not speaks_for(c, p_subject, l) then return query select 'foreign', null::timestamptz; return; end if;
  if i.ended_at is null and l.ended_at is null and least(l.expires_at, i.deadline_at) <= clock_timestamp() then
    perform advance_cases(array[p_id]);
    select * into i from item where kind = 'case' and id = p_id;
    select * into l from lease where token = p_token;
  end if;
  if i.ended_at is not null then return query select 'not_open', null::timestamptz; return; end if;
  if l.token is null or l.ended_at is not null then return query select 'lease_lost', null::timestamptz; return; end if;
  select clock_timestamp() + make_interval(secs => case when l.invited then coalesce(c.answer_seconds, q.lease_seconds) else q.lease_seconds end)
    into v_until from queue q where q.kind = 'case' and q.name = i.queue;
  update lease set expires_at = v_until where token = p_token;
  update item set updated_at = clock_timestamp(), wake_at = least(deadline_at, (
           select min(x.expires_at) from lease x where x.kind = 'case' and x.item_id = p_id and x.ended_at is null))
   where kind = 'case' and id = p_id;
  return query select 'done', v_until;
end $$;
