-- Leases of items with one holder at a time, live ones and those of the log (leases of cases and tasks are in table
-- `lease`).

-- Whether this token is of the item's live lease, whether or not a clock has come by (S0.6, S0.7).
-- p_subject  the only holder for whom the caller may act; null: any
create or replace function is_live(i item, p_token text, p_subject text) returns boolean language sql volatile as $$
  select i.state = 'held' and i.lease_id = p_token and least(i.expires_at, i.deadline_at) > clock_timestamp()
     and (p_subject is null or p_subject = i.holder)
$$;

-- Ends live leases and makes their items available again, or buries them. An item whose attempts are used up is dead or
-- buried instead (`exhausted_state`). It keeps its rank, which comes from when it first became available.
-- p_tokens       of the holders; null: an operator takes them away
-- p_actor        null: the holder
-- p_delays       seconds until each is available; null: at once, and its own delay stays
-- p_bury         puts it aside until it is kicked
-- p_skip         never offered to this person again
-- p_undelivered  the hand-out never reached the caller, so it was no attempt
-- p_priorities   for each another priority, of jobs, or null
-- p_reasons      for each why its holder gives it back, or null
create or replace function give_back(
  p_kind text, p_ids text[], p_tokens text[], p_subject text default null, p_actor text default null,
  p_reason text default null, p_delays double precision[] default null, p_bury boolean default false,
  p_skip boolean default false, p_undelivered boolean default false, p_priorities bigint[] default null,
  p_reasons text[] default null
) returns setof item language plpgsql as $$
begin
  return query with given as materialized (
    select i.kind, i.id, s.no, s.delay, s.priority, s.reason, q.rules,
           coalesce(i.callback, q.callback) is not null as deliver,
           case when p_bury then 'buried'
                when i.attempts >= q.max_attempts and not p_undelivered then exhausted_state(i.kind)
                when s.delay > 0 then 'delayed' else 'ready' end as state
      from unnest(p_ids, p_tokens, p_delays, p_priorities, p_reasons)
             with ordinality as s (id, token, delay, priority, reason, no)
      -- by ids twice, as in `grant_items`
      join item i on i.kind = p_kind and i.id = any (p_ids) and i.id = s.id
       and is_live(i, coalesce(s.token, i.lease_id), p_subject)
     cross join lateral (select * from queue where kind = i.kind and name = i.queue offset 0) q
     order by i.id for update of i
  ), timed as materialized (
    -- when all are locked: a lease ends after it began, also in the log
    select g.*, clock_timestamp() as now from (select * from given order by no) g
  ), numbered as materialized (
    select g.*, g.now + make_interval(secs => g.delay) as back_at,
           case when g.state = 'buried' then nextval('item_buried') end as buried_seq
      from timed g)
  update item i
     set state = g.state, available_at = case when g.state = 'delayed' then g.back_at else i.available_at end,
         delay_seconds = coalesce(g.delay, i.delay_seconds), attempts = i.attempts - p_undelivered::integer,
         priority = coalesce(g.priority, i.priority), rank = coalesce(g.priority, i.rank),
         skipped = case when p_skip and not i.holder = any (i.skipped) then i.skipped || i.holder else i.skipped end,
         rules_due_at = case when g.rules <> '[]' then g.now end, end_reason = coalesce(g.reason, i.end_reason),
         buried_seq = g.buried_seq, delivery_pending = g.state = 'dead' and g.deliver, event_seq = i.event_seq + 1,
         last_event = case when g.state in ('dead', 'buried') then g.state
                           when p_skip then 'skipped' else 'released' end, last_actor = coalesce(p_actor, i.holder),
         last_data = json_strip_nulls(json_build_object(
           'reviewer', case when i.kind = 'ticket' then i.holder end, 'reason', coalesce(g.reason, p_reason),
           'unseen', case when i.kind = 'ticket' and p_undelivered then true end,
           'delaySeconds', nullif(g.delay, 0), 'priority', case when not p_bury then g.priority end,
           'attempts', case when g.state = 'dead' then i.attempts end))
    from numbered g
   where i.kind = g.kind and i.id = g.id
  returning i.*;
end $$;

-- Ends open items from outside; who holds them loses them.
-- p_actor, p_actors        who ends them all, or each
-- p_results                of items that are settled
-- p_queue                  only in this one; null: in any
-- p_also_held              for each, whether also while it is held; null: yes
-- p_numbers                for each the only number that it may have, as a job's id may begin anew; null: any
create or replace function end_items(
  p_kind text, p_ids text[], p_state text, p_actor text, p_reason text, p_actors text[] default null,
  p_results text[] default null, p_queue text default null, p_also_held boolean[] default null,
  p_numbers bigint[] default null
) returns setof item language plpgsql as $$
begin
  return query with wanted as materialized (
    select i.kind, i.id, coalesce(p_actor, s.actor) as actor, s.result::json as result,
           coalesce(i.callback, q.callback) is not null as deliver
      from unnest(p_ids, p_actors, p_results, p_also_held, p_numbers) as s (id, actor, result, also_held, number)
      -- by ids twice, as in `grant_items`
      join item i on i.kind = p_kind and i.id = any (p_ids) and i.id = s.id and i.ended_at is null
       and (s.number is null or i.seq = s.number)
     cross join lateral (select * from queue where kind = i.kind and name = i.queue offset 0) q
     where (p_queue is null or i.queue = p_queue) and (i.state <> 'held' or s.also_held is not false)
     -- in the order of ids, as everywhere, so that two bulk calls cannot deadlock
     order by i.id for update of i)
  update item i
     set state = p_state, result = w.result, delivery_pending = w.deliver, end_reason = p_reason,
         event_seq = i.event_seq + 1, last_event = end_event(i.kind, p_state), last_actor = w.actor,
         last_data = case i.kind when 'ticket' then json_strip_nulls(json_build_object(
           'reason', p_reason, 'decision', w.result, 'reviewer', i.holder)) end
    from wanted w
   where i.kind = w.kind and i.id = w.id
  returning i.*;
end $$;

create or replace function token_hash(p_token text) returns bytea language sql stable parallel safe
  return sha256(convert_to(p_token, 'UTF8'));

-- Why a lease ended, by the line that ended it.
create or replace function lease_end(p_type text, p_actor text, p_holder text) returns text
language sql immutable parallel safe
  return case
    when p_type = 'reclaimed' or p_type in ('dead', 'buried') and p_actor = 'system' then 'expired'
    when p_type = 'transferred' then 'transferred'
    when p_type in ('released', 'skipped', 'dead', 'buried')
      then case when p_actor = p_holder then 'released' else 'revoked' end
    when p_type in ('decided', 'finished') and p_actor = p_holder then 'settled'
    else 'closed' end;

-- The lease of a token: whose, when and why it ended. No row: the token is of no lease of this item.
create or replace function named_lease(p_kind text, p_id text, p_token text)
returns table (seq integer, holder text, ended_at timestamptz, why text) language sql stable as $$
  select g.seq, g.actor, e.at, case when e.seq is not null then lease_end(e.type, e.actor, g.actor) end
    from event g
    left join event e on e.kind = g.kind and e.item_id = g.item_id and e.ends = g.seq
   where g.kind = p_kind and g.item_id = p_id and g.token = token_hash(p_token) and g.type <> 'refused'
  union all
  -- of cases and tasks
  select null, l.holder, l.ended_at, l.why from lease l where l.token = p_token and l.kind = p_kind and l.item_id = p_id
$$;

-- Notes a former holder's late attempt, the first with each lease (S0.7). One that had settled the item is no news.
create or replace function refuse_lease(p_kind text, p_id text, p_token text, p_attempt text) returns setof item
language plpgsql as $$
begin
  perform from item where kind = p_kind and id = p_id for update;
  if exists (
    select from event where kind = p_kind and item_id = p_id and type = 'refused' and token = token_hash(p_token)) then
    return;
  end if;
  return query update item i
     set event_seq = i.event_seq + 1, last_event = 'refused', last_actor = l.holder,
         last_data = json_build_object('attempt', p_attempt, 'reason', l.why)
    from named_lease(p_kind, p_id, p_token) l
   where i.kind = p_kind and i.id = p_id and l.why <> 'settled'
  returning i.*;
  if not found then return; end if;
  update event e set token = token_hash(p_token) from item i
   where i.kind = p_kind and i.id = p_id and e.kind = p_kind and e.item_id = p_id and e.seq = i.event_seq;
end $$;

-- The lock under which it is decided what a person gets of a court, or of the executors that they are given tasks of.
create or replace function person_key(p_kind text, p_queue text, p_person text) returns bigint
  language sql immutable strict parallel safe
  return hashtextextended(p_kind || chr(31) || p_queue || chr(31) || p_person, 0);
