-- Why a juror or a user gets nothing, or not this one (S0.5 for courts and tasks), by the functions that hand out.

-- What a claim of this juror comes to before single cases matter.
-- held     the cases that it resumes
-- shown    those that take up places of the window
-- outcome  of a claim that finds nothing, as in claim_cases
create or replace function juror_outlook(
  c court, j juror_seen, p_now timestamptz, out held text[], out shown text[], out outcome text
) language plpgsql stable as $$
begin
  held := array(select item_id from lease where kind = 'case' and queue = c.name and slot = any (j.ids || j.person)
                   and ended_at is null and expires_at > p_now);
  shown := array(select case_id from exposure where court = c.name and person = j.person
                    and shown_at > p_now - make_interval(secs => c.window_seconds));
  outcome := case
    when not (j.admitted or j.newcomer) then 'notEligible'
    when reached_daily_limit(c, j.person, 0, p_now) then 'fatigue'
    when cardinality(shown) >= c.window_cases and not exists (
      select from item i where i.kind = 'case' and i.id = any (shown) and i.state = 'ready'
         and case_obstacles(i, c, j) = '{}') then 'windowFull'
    when not j.admitted and next_gold(c, j, shown) = '{}' then 'notEligible'
    else 'none' end;
end $$;

-- What keeps a juror from an open case, whatever else they hold and have been shown.
create or replace function case_obstacles(i item, c court, j juror_seen) returns text[] language sql stable as $$
  select array_remove(array[
           case when not may_judge(f, j) then 'notEligible' end,
           case when exists (select from vote v where v.case_id = f.id
                                and (v.person = any (j.persons) or v.juror = any (j.ids))) then 'voted'
                when j.persons && i.skipped then 'skipped' end,
           case when decided_before(i.look, j) then 'voted'
                when f.party_ids && j.ids or j.persons && f.party_persons then 'party' end,
           case when i.capacity <= 0 then 'noVotesLeft' end,
           case when i.ended_at is null and i.deadline_at <= clock_timestamp() then 'hung' end], null)
    from case_file f where f.id = i.id
$$;

-- Everything that keeps a juror from a case, and how many of the thousand before it in its court's order go to them
-- first; where claims begin at a random place, none does for sure.
create or replace function explain_case(
  p_id text, p_court text, p_juror text, out why text[], out ahead integer
) language plpgsql stable set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_now timestamptz := clock_timestamp();
  i item;
  c court;
  j juror_seen;
  o record;
begin
  select * into i from item where kind = 'case' and id = p_id;
  select * into c from court where name = i.queue;
  j := juror_seen(c, p_juror, p_juror);
  o := juror_outlook(c, j, v_now);
  why := array_remove(array[
    case when i.queue <> p_court then 'otherCourt' end,
    case when p_id = any (o.held) then 'heldByYou' when o.held <> '{}' then 'holdsAnother' end,
    case when c.mode = 'assign' then 'assigned' end,
    case when reached_daily_limit(c, j.person, 0, v_now) then 'fatigue' end,
    case when cardinality(o.shown) >= c.window_cases and p_id <> all (o.shown) then 'windowFull' end], null)
    || case_obstacles(i, c, j);
  if p_id = any (o.held) then why := array_remove(why, 'noVotesLeft'); end if;
  ahead := case when c.random_start or c.window_cases is not null then 0 else (
    select count(*) from (
      select n from item n
       where n.kind = 'case' and n.queue = c.name and n.state = 'ready' and n.capacity > 0
         and (n.rank, n.seq) < (i.rank, i.seq) order by n.rank desc, n.seq desc limit 1000) s
     where not is_gold((s.n).id) and case_obstacles(s.n, c, j) = '{}') end;
end $$;

-- Everything that keeps a user from a task, and how many of the thousand occurrences before it they get first.
-- why    otherExecutor, deleted, heldByYou, unfinished (they have another one to complete first), and where no
--        occurrence is free of them the reasons of `next`
-- state  of the newest occurrence, where none is open
create or replace function explain_task(
  p_id text, p_person text, out why text[], out state text, out ahead integer
) language plpgsql stable set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_now timestamptz := clock_timestamp();
  b look_back := look_back_of(p_person);
  v_held text := (select item_id from lease where kind = 'task' and slot = p_person and ended_at is null);
  t task;
  e record;
  i item;
  v_causes text[];
  v_id text;
begin
  select * into t from task where id = p_id;
  select queue, joined_by into e from executors_of(p_person) where queue = t.queue;
  why := array_remove(array[
    case when t.state = 'deleted' then 'deleted' end, case when e.queue is null then 'otherExecutor' end,
    case when task_of(v_held) = p_id then 'heldByYou' when v_held is not null then 'unfinished' end], null);
  select array_agg(distinct s.cause) filter (where s.cause is not null),
         (array_agg((s.o).id order by s.cause is not null, (s.o).rank, (s.o).seq))[1] into v_causes, v_id
    from (select o, case when o.state = 'delayed' then 'notYet'
                         else task_obstacle(o, p_person, b, e.joined_by, v_now) end as cause
            from item o
           where (o.kind = 'rotation' and o.id = p_id or o.kind = 'task' and o.id > p_id || '/' and o.id < p_id || '0')
             and o.state in ('ready', 'delayed') and o.id is distinct from v_held
           order by o.rank, o.seq limit 1000) s;
  select * into i from item o where o.kind in ('task', 'rotation') and o.id = v_id;
  if i.id is null and not 'heldByYou' = any (why) then
    state := coalesce((select o.state from item o where o.kind = 'task' and o.id > p_id || '/' and o.id < p_id || '0'
                        order by o.available_at desc limit 1), 'expired');
  elsif i.state = 'delayed' or task_obstacle(i, p_person, b, e.joined_by, v_now) is not null then
    why := why || v_causes;
  end if;
  ahead := case when i.state is distinct from 'ready'
                  or exists (select from taken_task where person = p_person and item_id = i.id) then 0 else (
    select count(*) from executors_of(p_person) x cross join lateral (
      select o from item o
       where o.kind = 'task' and o.queue = x.queue and o.state = 'ready' and o.capacity > 0
         and (o.rank, o.seq) < (i.rank, i.seq) order by o.rank desc, o.seq desc limit 1000) s
     where task_obstacle(s.o, p_person, b, x.joined_by, v_now) is null) end;
end $$;
