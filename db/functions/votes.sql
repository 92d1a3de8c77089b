-- What holders of a case do (S2): vote, leave, renew. Each locks the case's row first.

-- Votes (S2.2, S2.3), each on another case. A verdict holds for a number of counted votes under one version of the
-- settings; when either has changed meanwhile, the caller must find it again.
-- p_sent   [{id, token, option, comment, subject, votes, settingsVersion, verdict}]
-- outcome  counted, late (kept, does not count), repeated, again, or why not: not_found, foreign, not_open,
--          lease_lost, already_voted, conflict_of_interest, forbidden
create or replace function cast_votes(p_sent jsonb) returns table (id text, outcome text, counted boolean)
language plpgsql set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  x record;
  v_votes vote[] := '{}';
  v_vote vote;
  v_person text;
  v_now timestamptz;
begin
  perform i.id from (select s.id from jsonb_to_recordset(p_sent) as s (id text) order by s.id collate "C" offset 0) s
    cross join lateral (select id from item where kind = 'case' and id = s.id offset 0 for update) i;
  v_now := clock_timestamp();
  for x in
    select s.id, s.votes, s."settingsVersion" as settings, s.subject, i.i, f, c, l.l,
           (s.token, null, s.id, f.court, (l.l).holder, null, s.option, s.comment, v_now, true,
            f.gold is not null)::vote as vote
      from jsonb_to_recordset(p_sent) as s (
             id text, token text, option text, comment text, subject text, votes integer, "settingsVersion" bigint)
      left join lateral (select i from item i where i.kind = 'case' and i.id = s.id offset 0) i on true
      left join case_file f on f.id = s.id
      left join court c on c.name = f.court
      left join lateral (
        select l from lease l where l.token = s.token and l.kind || '' = 'case' and l.item_id = s.id offset 0) l on true
  loop
    select x.id, k.outcome, k.counted, k.person into id, outcome, counted, v_person
      from check_vote(x.i, x.f, x.c, x.l, x.vote, x.subject, x.votes, x.settings) k;
    if outcome = 'counted' then
      v_vote := x.vote;
      v_vote.person := v_person;
      v_votes := v_votes || v_vote;
    end if;
    return next;
  end loop;
  if v_votes <> '{}' then perform count_votes(v_votes, p_sent, v_now); end if;
end $$;

-- Whether a vote counts, and as whose. What is due is done first, and a hold that may not vote is ended.
create or replace function check_vote(
  i item, f case_file, c court, l lease, v vote, p_subject text, p_votes integer, p_settings bigint,
  out outcome text, out counted boolean, out person text
) language plpgsql as $$
#variable_conflict use_column
declare
  j juror_seen;
  v_cast vote;
  v_reason text;
begin
  counted := false;
  if i.id is null then outcome := 'not_found'; return; end if;
  if l.token is not null and not speaks_for(c, p_subject, l) then outcome := 'foreign'; return; end if;
  select * into v_cast from vote where token = v.token and case_id = v.case_id;
  if found and (v_cast.option, v_cast.comment) is not distinct from (v.option, v.comment) then
    outcome := 'repeated';
    counted := v_cast.counted;
    return;
  end if;
  if i.ended_at is null and (i.deadline_at <= v.at or l.ended_at is null and l.expires_at <= v.at) then
    -- due, but no clock has done it yet: done now, so that the answer can say so
    perform advance_cases(array[i.id]);
    select * into i from item where kind = 'case' and id = v.case_id;
    select * into l from lease where token = v.token;
  end if;
  if i.ended_at is not null then
    outcome := case when late_vote(i, f, c, l, v.option, v.comment, v.at) then 'late' else 'not_open' end;
    return;
  end if;
  if l.token is null or v_cast.token is not null then outcome := 'lease_lost'; return; end if;
  j := juror_seen(c, l.holder, l.slot);
  v_reason := vote_exclusion(f, j);
  if v_reason is not null then
    perform revoke_hold(l, v_reason, 'vote', v.at);
    outcome := v_reason;
  elsif l.ended_at is not null then
    outcome := 'lease_lost';
  elsif f.gold is null and (f.votes <> p_votes or p_settings <> lock_settings(f.court)) then
    outcome := 'again';
  else
    outcome := 'counted';
    counted := true;
    person := j.person;
  end if;
end $$;

-- Counts votes that were found to count, with the verdicts that were sent with them.
create or replace function count_votes(p_votes vote[], p_sent jsonb, p_now timestamptz) returns void
language plpgsql as $$
declare
  v_ids text[];
  v_verdicts jsonb[];
  v_open item_line[];
  v_last item_line[];
begin
  insert into vote (token, case_id, court, juror, person, option, comment, at, counted, gold)
  select token, case_id, court, juror, person, option, comment, at, counted, gold from unnest(p_votes);
  update lease set ended_at = greatest(p_now, granted_at), why = 'settled', ended_by = holder
   where token in (select token from unnest(p_votes));
  insert into juror_day as d (court, person, day, votes)
  select v.court, v.person, court_day(c, p_now), count(*) from unnest(p_votes) v join court c on c.name = v.court
   group by 1, 2, 3 order by 1, 2
  on conflict (court, person, day) do update set votes = d.votes + excluded.votes;

  -- of gold nothing is decided
  select array_agg(v.case_id), array_agg(s.verdict) into v_ids, v_verdicts
    from unnest(p_votes) v join jsonb_to_recordset(p_sent) as s (id text, verdict jsonb) on s.id = v.case_id
   where not v.gold;
  if v_ids is not null then
    update case_file f
       set tally = f.tally || jsonb_build_object(v.option, coalesce((f.tally ->> v.option)::integer, 0) + 1),
           votes = f.votes + 1, votes_left = (s.verdict ->> 'votesLeft')::integer,
           stage = (s.verdict ->> 'stage')::integer
      from unnest(p_votes) v join unnest(v_ids, v_verdicts) as s (id, verdict) on s.id = v.case_id where f.id = s.id;
    if exists (select from unnest(v_ids, v_verdicts) as s (id, verdict)
                 join item i on i.kind = 'case' and i.id = s.id and i.id = any (v_ids)
                where i.priority <> (s.verdict ->> 'priority')::bigint) then
      update item i set priority = (s.verdict ->> 'priority')::bigint from unnest(v_ids, v_verdicts) as s (id, verdict)
       where i.kind = 'case' and i.id = any (v_ids) and i.id = s.id
         and i.priority <> (s.verdict ->> 'priority')::bigint;
    end if;
    insert into tally_line (kind, queue, what, n)
    select 'case', court, 'votes', count(*) from unnest(p_votes) where not gold group by court;
  end if;
  insert into juror_record as r (court, person, judged, agreed)
  select v.court, v.person, count(*), count(*) filter (where v.option = f.gold)
    from unnest(p_votes) v join case_file f on f.id = v.case_id
   where v.gold group by 1, 2 order by 1, 2
  on conflict (court, person) do update set judged = r.judged + excluded.judged, agreed = r.agreed + excluded.agreed;

  select array_agg(n.line) filter (where not n.ends), array_agg(n.line) filter (where n.ends) into v_open, v_last from (
    -- not of gold, which all jurors may judge: its row would grow with each of them
    select (v.case_id, v.juror, json_build_object('option', v.option),
            case when not v.gold then v.person end)::item_line as line,
           coalesce(s.verdict ->> 'winner' is not null or (s.verdict ->> 'hung')::boolean, false) as ends
      from unnest(p_votes) v left join unnest(v_ids, v_verdicts) as s (id, verdict) on s.id = v.case_id) n;
  if v_open is not null then perform recompute_cases(v_open, 'voted', p_now); end if;
  if v_last is not null then
    -- before their ends, with which the rows are written
    insert into event (kind, item_id, no, seq, type, actor, at, data)
    select 'case', l.id, i.seq, i.event_seq + 1, 'voted', l.actor, p_now, l.data from unnest(v_last) l
     cross join lateral (select seq, event_seq from item where kind = 'case' and id = l.id offset 0) i;
    perform apply_verdicts(v_ids, v_verdicts, p_now, 1);
  end if;
  perform records_changed(v.court, array_agg(v.person)) from unnest(p_votes) v
     join court c on c.name = v.court and c.bar_agreement is not null where v.gold group by v.court;
end $$;

-- A vote of a juror who still held the case when it was decided: wasted, counted as such once (S2.6), and kept as
-- evidence where the court wants that.
create or replace function late_vote(
  i item, f case_file, c court, l lease, p_option text, p_comment text, p_now timestamptz
) returns boolean language plpgsql as $$
begin
  if i.state <> 'settled' or l.why is distinct from 'closed' or l.refused_at is not null then return false; end if;
  update lease set refused_at = p_now where token = l.token;
  update case_file set wasted = wasted + 1 where id = f.id;
  insert into tally_line (kind, queue, what, n) values ('case', f.court, 'wasted', 1);
  update item set event_seq = event_seq + 1, last_event = 'refused', last_actor = l.holder,
         last_data = json_build_object('attempt', 'vote', 'reason', 'decided')
   where kind = 'case' and id = i.id;
  if not c.record_late then return false; end if;
  insert into vote (token, case_id, court, juror, person, option, comment, at, counted, gold)
  values (l.token, i.id, f.court, l.holder, l.slot, p_option, p_comment, p_now, false, false) on conflict do nothing;
  return found;
end $$;

-- Locks a case for the holder of this lease, once its clocks have had their turn: a deadline ends holds as well.
-- outcome  done, or why the hold is none: not_found, foreign, not_open, lease_lost
create or replace function hold_case(
  p_id text, p_token text, p_subject text, out outcome text, out i item, out c court, out l lease
) language plpgsql as $$
begin
  select * into i from item where kind = 'case' and id = p_id for update;
  if not found then outcome := 'not_found'; return; end if;
  select * into c from court where name = i.queue;
  select * into l from lease where token = p_token and kind = 'case' and item_id = p_id;
  if l.token is not null and not speaks_for(c, p_subject, l) then outcome := 'foreign'; return; end if;
  if i.ended_at is null and l.ended_at is null and least(l.expires_at, i.deadline_at) <= clock_timestamp() then
    perform advance_cases(array[p_id]);
    select * into i from item where kind = 'case' and id = p_id;
    select * into l from lease where token = p_token;
  end if;
  outcome := case when i.ended_at is not null then 'not_open'
                  when l.token is null or l.ended_at is not null then 'lease_lost' else 'done' end;
end $$;

-- Ends a hold by its holder. `p_type` released, skipped or declined; a juror who skips or declines does not get the
-- case again.
-- outcome  as of hold_case, or repeated, not_invited
create or replace function leave_case(p_id text, p_token text, p_subject text, p_type text) returns text
language plpgsql as $$
declare
  h record;
  v_now timestamptz;
begin
  h := hold_case(p_id, p_token, p_subject);
  v_now := clock_timestamp();
  if h.outcome in ('not_found', 'foreign') then return h.outcome; end if;
  if p_type = 'declined' and not coalesce((h.l).invited, true) then return 'not_invited'; end if;
  if (h.l).why = 'released' and (h.i).ended_at is null then return 'repeated'; end if;
  if h.outcome <> 'done' then return h.outcome; end if;
  update lease set ended_at = greatest(v_now, granted_at), why = 'released', ended_by = holder where token = p_token;
  perform recompute_cases(
    array[(p_id, (h.l).holder, null, case when p_type <> 'released' then (h.l).slot end)::item_line], p_type, v_now);
  return 'done';
end $$;

-- A full lease again. Neither version nor event moves, as with tickets.
create or replace function renew_hold(
  p_id text, p_token text, p_subject text, out outcome text, out expires_at timestamptz
) language plpgsql as $$
#variable_conflict use_column
declare
  h record;
begin
  h := hold_case(p_id, p_token, p_subject);
  outcome := h.outcome;
  if outcome <> 'done' then return; end if;
  update lease x
     set expires_at = clock_timestamp() + make_interval(
           secs => case when x.invited and (h.c).answer_seconds is not null
                        then (h.c).answer_seconds else q.lease_seconds end)
    from queue q where x.token = p_token and q.kind = 'case' and q.name = (h.i).queue
  returning x.expires_at into expires_at;
  update item set updated_at = clock_timestamp(), wake_at = least(deadline_at, (
           select min(x.expires_at) from lease x where x.kind = 'case' and x.item_id = p_id and x.ended_at is null))
   where kind = 'case' and id = p_id;
end $$;

-- The counted votes of a case with the records of their voters; none of gold, where nothing is decided. The vote for
-- which a call has one of these tokens comes last, without an option.
create or replace function ballots(f case_file, p_tokens text[]) returns jsonb language plpgsql stable as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('option', v.option, 'judged', coalesce(r.judged, 0),
                                                 'agreed', coalesce(r.agreed, 0)) order by v.option), '[]')
      from (select option, person from vote where case_id = f.id and counted and f.gold is null
            union all
            select null, coalesce(j.person, l.slot) from lease l
              join court c on c.name = f.court
              left join juror j on j.court = c.name and j.list = c.list and j.id = l.holder
             where l.token = any (p_tokens) and l.kind || '' = 'case' and l.item_id = f.id) v
      left join juror_record r on r.court = f.court and r.person = v.person);
end $$;
