-- Cases (S2). A case's row is its lock: whatever changes its votes or leases holds it. Persons are locked before
-- it (claims), or only tried for after it (invitations), so that no transactions wait in a circle.

-- Writes into cases' rows what follows from their votes and live leases: how many more may hold one, when something is
-- next due, whether jurors are to be invited. Every change of an open case ends here.
-- p_lines  what happened, one line each; they are all of one type
create or replace function recompute_cases(p_lines item_line[], p_type text, p_now timestamptz) returns void
language plpgsql as $$
begin
  perform earlier_lines('case', p_lines, p_type, p_now);
  with held as materialized (
    select l.*, o.live, o.first_end from last_lines(p_lines) l cross join lateral (
      select count(*) as live, min(x.expires_at) as first_end from lease x
       where x.kind = 'case' and x.item_id = l.id and x.ended_at is null) o
  ), filed as (
    update case_file f set holds = h.live from held h where f.id = h.id returning f)
  update item i
     set capacity = case_slots_left(n.f, c), lacks_jurors = case_invites(n.f, c),
         wake_at = least(i.deadline_at, h.first_end), rank = case_rank(c, i.priority, i.first_available_at),
         skipped = case when h.done is null then i.skipped else i.skipped || h.done end,
         attempts = i.attempts + case when p_type in ('claimed', 'invited') then h.n else 0 end,
         event_seq = i.event_seq + h.n, last_event = p_type, last_actor = h.actor, last_data = h.data,
         updated_at = p_now
    from filed n join court c on c.name = (n.f).court join held h on h.id = (n.f).id
   where i.kind = 'case' and i.id = any (array(select id from unnest(p_lines))) and i.id = h.id;
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
create or replace function case_rank(c court, p_priority bigint, p_since timestamptz) returns bigint
language plpgsql volatile as $$
begin
  return case when c.random_start then (random() * 4503599627370496)::bigint
              else item_rank('case', p_priority, p_since, null, false) end;
end $$;

-- Ends cases and the leases of all who still read them, in one transaction (S2.2, S2.6).
-- p_type     the event, also in the notices to holders: decided, hung, invalidated
-- p_winners  one for each; null: nobody won
-- p_lines    how many of the same moment each has in its log already
create or replace function end_cases(
  p_ids text[], p_state text, p_type text, p_winners text[], p_actor text, p_reason text, p_now timestamptz,
  p_lines integer default 0
) returns void language plpgsql as $$
begin
  with ended as (
    update lease set ended_at = greatest(p_now, granted_at), ended_by = p_actor,
                     why = case when expires_at <= p_now then 'expired' else 'closed' end
     where kind = 'case' and item_id = any (p_ids) and ended_at is null returning item_id, queue, holder)
  insert into notice (kind, item_id, queue, person, type, data)
  select 'case', item_id, queue, holder, 'lease_lost', json_build_object('reason', p_type, 'by', p_actor) from ended;

  with filed as (
    update case_file f
       set holds = 0, winner = s.winner, votes_left = case when s.winner is null then f.votes_left else 0 end
      from unnest(p_ids, p_winners) as s (id, winner) where f.id = s.id returning f.*)
  update item i
     set state = p_state, end_reason = p_reason,
         result = case when p_state = 'settled' then json_build_object('winner', f.winner, 'tally', f.tally) end,
         delivery_pending = f.gold is null and (coalesce(i.callback, q.callback) is not null
                   or p_type = 'hung' and coalesce(c.fallback ?| array['court', 'queue'], false)),
         event_seq = i.event_seq + 1 + p_lines, last_event = p_type, last_actor = p_actor,
         last_data = json_strip_nulls(json_build_object('winner', f.winner, 'tally', f.tally, 'reason', p_reason)),
         updated_at = p_now
    from filed f join court c on c.name = f.court join queue q on q.kind = 'case' and q.name = f.court
   where i.kind = 'case' and i.id = any (p_ids) and i.id = f.id;
  if p_state <> 'invalidated' then perform count_outcomes(p_ids, p_now); end if;
end $$;

-- Adds the outcomes of cases to their courts' statistics: vote distribution, time to decide, jurors' agreement.
create or replace function count_outcomes(p_ids text[], p_now timestamptz) returns void language plpgsql as $$
begin
  insert into tally_line (kind, queue, what, n)
  select 'case', f.court, s.what, s.n from case_file f
   cross join lateral (select created_at from item where kind = 'case' and id = f.id offset 0) i
   cross join lateral (values
      ('votes ' || f.tally::text, 1),
      ('decide_ms', case when f.winner is null then 0
                         else extract(epoch from p_now - i.created_at) * 1000 end)) as s (what, n)
   where f.id = any (p_ids) and f.gold is null and s.n <> 0;
  insert into juror_record as r (court, person, judged, agreed)
  select f.court, v.person, count(*), count(*) filter (where v.option = f.winner)
    from case_file f join vote v on v.case_id = f.id
   where f.id = any (p_ids) and f.gold is null and f.winner is not null and v.counted group by 1, 2 order by 1, 2
  on conflict (court, person) do update set judged = r.judged + excluded.judged, agreed = r.agreed + excluded.agreed;
  perform records_changed(c.name, array_agg(distinct v.person)) from case_file f
     join court c on c.name = f.court and c.bar_agreement is not null join vote v on v.case_id = f.id and v.counted
    where f.id = any (p_ids) and f.gold is null and f.winner is not null group by c.name;
end $$;

-- Applies verdicts, one for each case, that the court's strategy in domain/courts.ts found from its votes:
-- {winner, votesLeft, stage, hung, priority}.
create or replace function apply_verdicts(
  p_ids text[], p_verdicts jsonb[], p_now timestamptz, p_lines integer default 0
) returns void language plpgsql as $$
declare
  v_decided text[];
  v_winners text[];
  v_hung text[];
begin
  select array_agg(s.id) filter (where s.v ->> 'winner' is not null),
         array_agg(s.v ->> 'winner') filter (where s.v ->> 'winner' is not null),
         array_agg(s.id) filter (where s.v ->> 'winner' is null and (s.v ->> 'hung')::boolean)
    into v_decided, v_winners, v_hung
    from unnest(p_ids, p_verdicts) as s (id, v);
  if v_decided is not null then
    perform end_cases(v_decided, 'settled', 'decided', v_winners, 'court', null, p_now, p_lines);
  end if;
  if v_hung is not null then
    perform end_cases(v_hung, 'expired', 'hung', null, 'court', 'nobody can win any more', p_now, p_lines);
  end if;
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
      perform recompute_cases(array[(i.id, 'system', c.fallback::json, null)::item_line], 'extended', v_now);
    elsif i.deadline_at <= v_now then
      perform end_cases(array[i.id], 'expired', 'hung', null, 'system', 'deadline', v_now);
    else
      with ended as (
        update lease set ended_at = greatest(v_now, granted_at), why = 'expired', ended_by = 'system'
         where kind = 'case' and item_id = i.id and ended_at is null and expires_at <= v_now returning queue, holder
      ), noticed as (
        insert into notice (kind, item_id, queue, person, type, data)
        select 'case', i.id, queue, holder, 'lease_lost', json_build_object('reason', 'expired', 'by', 'system')
          from ended
      ), counted as (
        insert into tally_line (kind, queue, what, n)
        select 'case', queue, 'lease_expired', count(*) from ended group by queue
      ) select json_agg(holder) into v_jurors from ended;
      perform recompute_cases(array[(i.id, 'system',
                                case when v_jurors is null then json_build_object('deadlineAt', i.deadline_at)
                                     else json_build_object('jurors', v_jurors) end, null)::item_line],
                              case when v_jurors is null then 'changed' else 'reclaimed' end, v_now);
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

-- Applies a court's new settings to open cases (S2.8); those that they leave undecided change in one statement. A case
-- gets a new version only for what its workflow must receive: a wake time, or whether it lacks jurors.
-- p_found     [{id, votes, verdict}]; a case with votes since then is skipped: each vote is judged by the new settings
-- p_settings  the version of the settings that the verdicts were found for; nothing changes under others
-- Returns the cases with a new version, or one null when there are other settings.
create or replace function rejudge_cases(p_court text, p_found jsonb, p_settings bigint) returns setof text
language plpgsql as $$
declare
  v_ids text[];
  v_verdicts jsonb[];
  v_now timestamptz;
begin
  perform from item
    where kind = 'case' and id = any (array(select s.id from jsonb_to_recordset(p_found) as s (id text)))
      and ended_at is null order by id for update;
  if lock_settings(p_court) <> p_settings then
    return next null; return;
  end if;
  v_now := clock_timestamp();
  update case_file f
     set votes_left = (s.verdict ->> 'votesLeft')::integer, stage = (s.verdict ->> 'stage')::integer,
         tally = case when f.gold is null then f.tally else '{}' end
    from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
   where f.id = s.id and f.votes = s.votes
     and exists (select from item i where i.kind = 'case' and i.id = s.id and i.ended_at is null);

  select array_agg(s.id order by s.id), array_agg(s.verdict order by s.id) into v_ids, v_verdicts
    from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
    join case_file f on f.id = s.id and f.votes = s.votes
    join item i on i.kind = 'case' and i.id = s.id and i.ended_at is null
   where s.verdict ->> 'winner' is not null or (s.verdict ->> 'hung')::boolean;
  if v_ids is not null then
    perform apply_verdicts(v_ids, v_verdicts, v_now);
    return query select unnest(v_ids);
  end if;

  return query
  with found as materialized (
    select i.id, n.*, n.deadline_at is distinct from i.deadline_at or n.lacks_jurors <> i.lacks_jurors as versioned,
           n.deadline_at is distinct from i.deadline_at as other_deadline, c as court,
           -- it has a place by its age, with the priority of before, where the place is to be random, or no such place
           case when c.random_start then i.rank = item_rank('case', i.priority, i.first_available_at, null, false)
                else i.rank <> item_rank('case', n.priority, i.first_available_at, null, false) end as moves
      from jsonb_to_recordset(p_found) as s (id text, votes integer, verdict jsonb)
      join case_file f on f.id = s.id and f.votes = s.votes
      join item i on i.kind = 'case' and i.id = s.id and i.ended_at is null
      join court c on c.name = p_court
     cross join lateral (select (s.verdict ->> 'priority')::bigint as priority, case_deadline(i, f) as deadline_at,
                                case_slots_left(f, c) as capacity, case_invites(f, c) as lacks_jurors) n
  ), changed as (
    update item i
       set capacity = n.capacity, lacks_jurors = n.lacks_jurors, priority = n.priority, deadline_at = n.deadline_at,
           updated_at = v_now,
           rank = case when n.moves then case_rank(n.court, n.priority, i.first_available_at) else i.rank end,
           wake_at = case when n.other_deadline then least(n.deadline_at, (
                            select min(l.expires_at) from lease l
                             where l.kind = 'case' and l.item_id = i.id and l.ended_at is null))
                          else i.wake_at end,
           event_seq = i.event_seq + n.versioned::integer, last_event = case when n.versioned then 'changed' end,
           last_actor = 'system',
           last_data = json_build_object('deadlineAt', n.deadline_at, 'inviting', n.lacks_jurors)
      from found n
     where i.kind = 'case' and i.id = n.id
       and (n.moves or n.versioned or (n.capacity, n.priority) is distinct from (i.capacity, i.priority))
    returning i.id, n.versioned)
  select id from changed where versioned;
end $$;
