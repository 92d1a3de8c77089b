-- Hands items of one queue to one or more persons (S0.6, S0.8).
--
-- It looks at more than the rows it locks (what a person holds already), so it is two steps: lock
-- the persons, in one order, then decide on a snapshot taken after the lock. One statement has one
-- snapshot: a lock taken inside it would not refresh what it reads.
--
-- p_persons  distinct; with more than one of them p_count is 1 and p_skills is empty
-- p_tokens   p_count for each person: the tokens of new leases, made by the caller so that the
--            fate of a lost answer can be looked up
-- p_resume   also return what the persons hold; false: new items only
-- p_follows  the token whose decision asked for this one (claim_next)
-- Returns held items: those with a token of p_tokens are new, the others resumed. A person in none
-- of the rows got nothing.
create or replace function claim_items(
  p_kind text, p_queue text, p_persons text[], p_tokens text[], p_count integer,
  p_skills text[], p_resume boolean, p_follows text
) returns setof item language plpgsql as $$
declare
  q queue;
  v_now timestamptz;
  v_persons text[];
  v_tokens text[];
  v_ids text[];
  v_given integer;
  v_alone text[];
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key(p_kind, p_queue, person) as key from unnest(p_persons) as person order by 1) s;
  v_now := clock_timestamp();

  if p_resume then
    return query select * from item
      where kind = p_kind and queue = p_queue and state = 'held'
        and holder = any (p_persons) and expires_at > v_now
      order by granted_at, seq;
  end if;

  select * into q from queue where kind = p_kind and name = p_queue;
  if q.paused or q.name is null then return; end if;

  -- one slot for each new item that a person may get
  select array_agg(p.person order by p.no, g), array_agg(p_tokens[(p.no - 1) * p_count + g] order by p.no, g)
    into v_persons, v_tokens
    from unnest(p_persons) with ordinality as p (person, no)
   cross join lateral (
     select count(*)::integer as n from item
      where kind = p_kind and queue = p_queue and state = 'held'
        and holder = p.person and expires_at > v_now) held
   cross join lateral generate_series(
     1, least(p_count - case when p_resume then held.n else 0 end, q.max_held - held.n)) as g;
  if v_persons is null then return; end if;

  v_ids := case when p_skills = '{}'
    then pick_plain(p_kind, p_queue, p_persons, cardinality(v_persons), v_now)
    else pick_skilled(p_kind, p_queue, p_persons[1], p_skills, cardinality(v_persons), v_now) end;

  -- a lease begins when its row is locked: the one before has ended by then, also in the log
  v_now := clock_timestamp();
  return query select * from grant_items(q, v_ids, v_persons, v_tokens, p_follows, v_now);
  get diagnostics v_given = row_count;
  if v_given = coalesce(cardinality(v_ids), 0) then return; end if;
  -- a person was excluded from the item chosen for them: choose again, one by one, for all who have none
  for n in 1 .. cardinality(v_persons) loop
    continue when exists (select 1 from item where kind = p_kind and id = v_ids[n] and lease_id = v_tokens[n]);
    v_alone := pick_plain(p_kind, p_queue, v_persons[n:n], 1, v_now);
    v_now := clock_timestamp();
    return query select * from grant_items(q, v_alone, v_persons[n:n], v_tokens[n:n], p_follows, v_now);
  end loop;
end $$;

-- The lock under which it is decided what a person gets from a queue.
create or replace function person_key(p_kind text, p_queue text, p_person text) returns bigint
  language sql immutable strict parallel safe
  return hashtextextended(p_kind || chr(31) || p_queue || chr(31) || p_person, 0);

-- The new item that a decision asked for as its next one (S0.8): the first answer, an item or none, is
-- the answer however often and from wherever it is asked again.
-- p_follows  the token that decided
create or replace function claim_next(
  p_kind text, p_queue text, p_person text, p_token text, p_skills text[], p_follows text
) returns setof item language plpgsql as $$
begin
  perform pg_advisory_xact_lock(person_key(p_kind, p_queue, p_person));
  return query select i.* from lease l join item i on i.kind = l.kind and i.id = l.item_id
                where l.follows = p_follows;
  if found then return; end if;
  perform 1 from lease l join item i on i.kind = l.kind and i.id = l.item_id
    where l.token = p_follows and i.settled_token = p_follows and i.next_wanted;
  if not found then return; end if;
  return query select * from claim_items(p_kind, p_queue, array[p_person], array[p_token], 1, p_skills, false, p_follows);
  if found then return; end if;
  update item i set next_wanted = false from lease l
   where l.token = p_follows and i.kind = l.kind and i.id = l.item_id and i.settled_token = p_follows;
end $$;

-- Gives the n-th item to the n-th person, unless that person is excluded from it. One plan for all
-- calls, as below: planning for the values at hand would take longer than the work. (plpgsql keeps
-- plans; before PostgreSQL 18 a function in SQL is planned at each call.)
create or replace function grant_items(
  q queue, p_ids text[], p_persons text[], p_tokens text[], p_follows text, p_now timestamptz
) returns setof item language plpgsql
set plan_cache_mode = force_generic_plan as $$
begin
  return query update item i
     set state = 'held', lease_id = s.token, holder = s.person, granted_at = p_now,
         expires_at = p_now + make_interval(secs => coalesce(i.lease_seconds, q.lease_seconds)),
         lease_follows = p_follows, lease_end = null, attempts = i.attempts + 1,
         wake_at = item_wake('held', null, p_now + make_interval(secs => coalesce(i.lease_seconds, q.lease_seconds)), i.deadline_at,
           next_escalation(q.escalations, i.first_available_at, i.escalated_seconds)),
         version = nextval('item_version'), event_seq = i.event_seq + 1,
         last_event = 'claimed', last_actor = s.person,
         last_data = json_build_object('attempt', i.attempts + 1), updated_at = p_now
    from unnest(p_ids, p_persons, p_tokens) as s (id, person, token)
   where i.kind = q.kind and i.id = s.id and i.state = 'ready'
     and not (s.person = any (i.exclude) or s.person = any (i.skipped))
  returning i.*;
end $$;

-- The head of the queue among items that ask for no skill: one range of the ready index.
create or replace function pick_plain(
  p_kind text, p_queue text, p_persons text[], p_count integer, p_now timestamptz
) returns text[] language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  v_ids text[];
begin
  with c as materialized (
    select id, rank, seq from item
     where kind = p_kind and queue = p_queue and state = 'ready' and requires_key = '' and rules_due_at is null
       and (deadline_at is null or deadline_at > p_now)
       and (cardinality(p_persons) > 1
            or not (p_persons[1] = any (exclude) or p_persons[1] = any (skipped)))
     order by rank, seq
     limit p_count
       for update skip locked)
  select array_agg(id order by rank, seq) into v_ids from c;
  return v_ids;
end $$;

-- The head of the queue among items whose skills the person covers: the ready index is read once
-- per key that occurs and is covered, then the best of those are locked. What a neighbour locked
-- in between is made up for by looking a little further.
create or replace function pick_skilled(
  p_kind text, p_queue text, p_person text, p_skills text[], p_count integer, p_now timestamptz
) returns text[] language plpgsql as $$
declare
  v_ids text[];
  v_seen integer;
  v_depth integer := p_count;
begin
  loop
    with recursive key (requires_key) as (
      (select requires_key from item
        where kind = p_kind and queue = p_queue and state = 'ready' order by requires_key limit 1)
      union all
      select (select i.requires_key from item i
               where i.kind = p_kind and i.queue = p_queue and i.state = 'ready'
                 and i.requires_key > key.requires_key order by i.requires_key limit 1)
        from key where key.requires_key is not null
    ), head as materialized (
      select h.* from key cross join lateral (
        select id, rank, seq from item i
         where i.kind = p_kind and i.queue = p_queue and i.state = 'ready' and i.requires_key = key.requires_key
           and (deadline_at is null or deadline_at > p_now) and rules_due_at is null
           and not (p_person = any (exclude) or p_person = any (skipped))
         order by rank, seq limit v_depth) h
       where key.requires_key is not null
         and (key.requires_key = '' or string_to_array(key.requires_key, ',') <@ p_skills)
    ), locked as materialized (
      select i.id, i.rank, i.seq from item i
       where i.kind = p_kind and i.id in (select id from head order by rank, seq limit v_depth) and i.state = 'ready'
         and i.rules_due_at is null
       order by i.rank, i.seq limit p_count for update skip locked
    )
    select array_agg(id order by rank, seq), (select count(*) from head) into v_ids, v_seen from locked;
    exit when coalesce(cardinality(v_ids), 0) >= p_count or v_seen < v_depth or v_depth > 4096;
    v_depth := v_depth * 4 + 16;
  end loop;
  return v_ids;
end $$;

-- Why a claim came back empty, each cause counted up to 1,000 (S0.5, explain).
create or replace function claim_reasons(
  p_kind text, p_queue text, p_person text, p_skills text[]
) returns table (delayed integer, held integer, excluded integer, skills integer, skipped integer,
                 paused integer, max_held integer, retry_after double precision)
language sql stable as $$
  with q as (select * from queue where kind = p_kind and name = p_queue),
  mine as (
    select count(*)::integer as n from item
     where kind = p_kind and queue = p_queue and state = 'held'
       and holder = p_person and expires_at > clock_timestamp()),
  waiting as materialized (
    select exclude, skipped, requires from item
     where kind = p_kind and queue = p_queue and state = 'ready' limit 1000)
  select
    (select count(*) from (select 1 from item where kind = p_kind and queue = p_queue and state = 'delayed' limit 1000) s)::integer,
    (select count(*) from (select 1 from item where kind = p_kind and queue = p_queue and state = 'held'
                              and holder <> p_person limit 1000) s)::integer,
    (select count(*) from waiting where p_person = any (exclude))::integer,
    (select count(*) from waiting where not requires <@ p_skills)::integer,
    (select count(*) from waiting where p_person = any (waiting.skipped))::integer,
    (select case when q.paused then (select count(*) from waiting) else 0 end from q)::integer,
    (select case when mine.n >= q.max_held then mine.n else 0 end from q, mine)::integer,
    extract(epoch from least(
      (select min(available_at) from item where kind = p_kind and queue = p_queue and state = 'delayed'),
      (select min(expires_at) from item where kind = p_kind and queue = p_queue and state = 'held')
    ) - clock_timestamp())::double precision
$$;
