-- Hands items of one queue to one or more persons (S0.6, S0.8).
--
-- Each hold has a slot of its person, 1 .. max_held. A unique index keeps two claims of one person from taking the same
-- slot: the later one fails with 23505 and is repeated (db/pool.ts), and then finds what the first took. Where a person
-- may hold more than one item, concurrent claims would fail again and again, so the person is locked first. The lock is
-- taken in a statement of its own, because one statement has one snapshot, which a lock taken inside it does not
-- refresh.
--
-- p_persons  distinct; with more than one of them p_count is 1
-- p_skills   of all of them
-- p_tokens   p_count for each person: the tokens of new leases, made by the caller so that the
--            fate of a lost answer can be looked up
-- p_resume   also return what the persons hold; false: new items only
-- Returns held items: those with a token of p_tokens are new, the others resumed. A person in none
-- of the rows got nothing. Before them, without a body, what was due in the queue and is done now.
create or replace function claim_items(
  p_kind text, p_queue text, p_persons text[], p_tokens text[], p_count integer, p_skills text[], p_resume boolean
) returns setof item language plpgsql as $$
declare
  q queue;
  v_now timestamptz;
  v_held item[];
  v_persons text[] := p_persons;
  v_tokens text[] := p_tokens;
  v_slots bigint[];
  v_ids text[];
begin
  select * into q from queue where kind = p_kind and name = p_queue;
  if exists (select from reviewer) then perform lock_registered(p_persons); end if;
  if q.max_held > 1 then
    perform pg_advisory_xact_lock(s.key) from (
      select distinct person_key(p_kind, p_queue, person) as key from unnest(p_persons) as person order by 1) s;
  end if;
  if is_due(p_kind, array[p_queue]) then return query select * from advance_due(p_kind, array[p_queue]); end if;
  v_now := clock_timestamp();
  select array_agg(i order by granted_at, rank, seq) into v_held from item i
   where kind = p_kind and queue = p_queue and state = 'held' and holder = any (p_persons);
  if p_resume and v_held is not null then
    return query select * from unnest(v_held) where expires_at > v_now;
  end if;
  if q.paused or q.name is null then return; end if;

  -- one slot for each new item that a person may get
  if v_held is null and p_count = 1 then
    v_slots := array_fill(1, array[cardinality(p_persons)]);
  else
    select * into v_persons, v_tokens, v_slots
      from free_slots(q, v_held, p_persons, p_tokens, p_count, p_resume, v_now);
    if v_slots is null then return; end if;
  end if;

  v_ids := choose_items(q, v_persons, p_skills);
  if q.gold is not null then v_ids := with_gold(q, v_persons, p_skills, v_ids); end if;
  return query select * from grant_items(p_kind, v_ids, v_persons, v_tokens, v_slots);
end $$;

-- The same for one person and several queues: what they hold in any of them, then new items of each queue in turn.
-- As many as there are tokens bound all of it. The person is locked in all queues, so that a second claim of theirs
-- finds what the first took.
create or replace function claim_from(
  p_kind text, p_queues text[], p_person text, p_tokens text[], p_skills text[], p_resume boolean
) returns setof item language plpgsql as $$
declare
  v_queue text;
  v_ids text[] := '{}';
  v_held item[];
  v_more item[];
  v_known integer;
  v_count integer := cardinality(p_tokens);
begin
  if cardinality(p_queues) = 1 then
    return query select * from claim_items(
      p_kind, p_queues[1], array[p_person], p_tokens, v_count, p_skills, p_resume);
    return;
  end if;
  if exists (select from reviewer) then perform lock_registered(array[p_person]); end if;
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key(p_kind, queue, p_person) as key from unnest(p_queues) as queue order by 1) s;
  if p_resume then
    v_held := array(select i from item i
      where kind = p_kind and queue = any (p_queues) and state = 'held' and holder = p_person
        and expires_at > clock_timestamp() order by granted_at, rank, seq);
    v_ids := array(select id from unnest(v_held));
    return query select * from unnest(v_held);
  end if;
  foreach v_queue in array p_queues loop
    exit when cardinality(v_ids) >= v_count;
    -- resumes what a claim of this queue alone took since; what is known is counted, so no token is used for it
    v_known := (select count(*) from unnest(v_held) where queue = v_queue);
    v_more := array(select c from claim_items(
      p_kind, v_queue, array[p_person], p_tokens[cardinality(v_ids) + 1:] || p_tokens[:v_known],
      v_count - cardinality(v_ids) + v_known, p_skills, p_resume) c where c.body is null or c.id <> all (v_ids));
    v_ids := v_ids || array(select id from unnest(v_more) where body is not null);
    return query select * from unnest(v_more);
  end loop;
end $$;

-- The free slots of persons who may hold more. A hold that has expired and that no clock has ended yet does not count:
-- its slot is given up.
-- p_held  all that the persons hold
create or replace function free_slots(
  q queue, p_held item[], p_persons text[], p_tokens text[], p_count integer, p_resume boolean, p_now timestamptz,
  out persons text[], out tokens text[], out slots bigint[]
) language plpgsql as $$
declare
  v_lost text[];
begin
  select array_agg(h.id) into v_lost from unnest(p_held) h where h.expires_at <= p_now;
  if v_lost is not null then
    update item i set slot = -i.seq
     where i.kind = q.kind and i.id = any (v_lost) and i.expires_at <= p_now and i.slot > 0;
  end if;
  select array_agg(p.person order by p.no, f.slot),
         array_agg(p_tokens[(p.no - 1) * p_count + f.n] order by p.no, f.slot), array_agg(f.slot order by p.no, f.slot)
    into persons, tokens, slots
    from unnest(p_persons) with ordinality as p (person, no)
   cross join lateral (
     select array_agg(h.slot) as taken, count(*) as n from unnest(p_held) h
      where h.holder = p.person and h.expires_at > p_now) live
   cross join lateral (
     select s as slot, row_number() over (order by s) as n
       from generate_series(1, least(q.max_held, p_count + live.n)) s
      where live.taken is null or s <> all (live.taken) order by s
      limit greatest(least(p_count - case when p_resume then live.n else 0 end, q.max_held - live.n), 0)) f;
end $$;

-- An item for each of these persons, the n-th for the n-th, locked; null for those who get none. They come from the
-- head of the queue, in its order. If one excludes its person, all who have none are looked for again, one by one.
-- p_persons  one person as often as they may get one, or distinct ones
create or replace function choose_items(q queue, p_persons text[], p_skills text[]) returns text[]
language plpgsql as $$
declare
  v_ids text[];
  v_one text := case when p_persons[1] = all (p_persons) then p_persons[1] end;
  v_free integer[];
  v_number integer;
  v_erased boolean;
begin
  if q.registered or exists (select from reviewer) or v_one is null and exists (
    select from item where queue = q.name and state = 'ready' and for_person is not null) then
    return choose_registered(q, p_persons, p_skills);
  end if;
  v_ids := head_of_queue(
    q, case when v_one is not null then known_as(v_one) end, p_skills, cardinality(p_persons), '{}', '{}');
  if v_one is not null or v_ids is null then return v_ids; end if;
  v_erased := exists (select from erased_name);
  v_free := array(
    select s.n from unnest(v_ids, p_persons) with ordinality as s (id, person, n)
      join item i on i.kind = q.kind and i.id = s.id
     where not is_offered(i, case when v_erased then known_as(s.person) else array[s.person] end, '{}', '{}'));
  if v_free = '{}' then return v_ids; end if;
  foreach v_number in array v_free loop v_ids[v_number] := null; end loop;
  for v_number in 1 .. cardinality(p_persons) loop
    if v_ids[v_number] is null then
      v_ids[v_number] := (head_of_queue(
        q, known_as(p_persons[v_number]), p_skills, 1, array_remove(v_ids, null), '{}'))[1];
    end if;
  end loop;
  return v_ids;
end $$;

-- The best items that wait, locked, in the order of the queue; items that others have locked are passed by.
-- p_names  of the person to whom all of them may go; none: what is for nobody alone; null: who gets them is looked at
--          later
-- p_but    none of these
-- p_full   none of these categories but what the person was handed before
create or replace function head_of_queue(
  q queue, p_names text[], p_skills text[], p_count integer, p_but text[], p_full text[]
) returns text[] language plpgsql as $$
declare
  v_ids text[];
  v_away text[] := case when p_names is not null then away_names() end;
  v_now timestamptz := clock_timestamp();
begin
  if p_skills <> '{}' then return pick_skilled(q, p_names, p_skills, p_count, p_but, p_full, v_away, v_now); end if;
  with head as materialized (
    select id, rank, seq from item i
     where kind = q.kind and queue = q.name and state = 'ready' and requires_key = '' and rules_due_at is null
       and (deadline_at is null or deadline_at > v_now) and id <> all (p_but)
       and not is_gold(i.look) and is_offered(i, p_names, p_full, v_away)
     order by rank, seq
     limit p_count
       for update skip locked)
  select array_agg(id order by rank, seq) into v_ids from head;
  return v_ids;
end $$;

-- Leases the n-th item to the n-th person; no row for those without an item.
create or replace function grant_items(
  p_kind text, p_ids text[], p_persons text[], p_tokens text[], p_slots bigint[]
) returns setof item language plpgsql as $$
declare
  -- a lease begins when its row is locked: the one before has ended by then, also in the log
  v_now timestamptz := clock_timestamp();
begin
  if p_ids is null then return; end if;
  if exists (select from reviewer) then perform count_hand_outs(p_ids, p_persons); end if;
  return query update item i
     set state = 'held', lease_id = s.token, holder = s.person, slot = s.slot, granted_at = v_now,
         expires_at = v_now + make_interval(secs => coalesce(i.lease_seconds, (
           select coalesce(q.adaptive_seconds, q.lease_seconds) from queue q
            where q.kind = i.kind and q.name = i.queue))),
         attempts = i.attempts + 1, event_seq = i.event_seq + 1, last_event = 'claimed', last_actor = s.person,
         last_data = json_build_object('attempt', i.attempts + 1)
    from unnest(p_ids, p_persons, p_tokens, p_slots) as s (id, person, token, slot)
   -- said twice, for a planner that would rather read the whole of a small table once than some ids of it
   where i.kind = p_kind and i.id = any (p_ids) and i.id = s.id
  returning i.*;
end $$;

-- The head of the queue among items whose skills the person covers: the ready index is read once
-- per key that occurs and is covered, then the best of those are locked. What a neighbour locked
-- in between is made up for by looking a little further.
create or replace function pick_skilled(
  q queue, p_names text[], p_skills text[], p_count integer, p_but text[], p_full text[], p_away text[],
  p_now timestamptz
) returns text[] language plpgsql as $$
declare
  v_ids text[];
  v_seen integer;
  v_depth integer := p_count;
begin
  loop
    with recursive key (requires_key) as (
      (select requires_key from item
        where kind = q.kind and queue = q.name and state = 'ready' order by requires_key limit 1)
      union all
      select (select i.requires_key from item i
               where i.kind = q.kind and i.queue = q.name and i.state = 'ready'
                 and i.requires_key > key.requires_key order by i.requires_key limit 1)
        from key where key.requires_key is not null
    ), head as materialized (
      select h.* from key cross join lateral (
        select id, rank, seq from item i
         where i.kind = q.kind and i.queue = q.name and i.state = 'ready' and i.requires_key = key.requires_key
           and (deadline_at is null or deadline_at > p_now) and rules_due_at is null and id <> all (p_but)
           and not is_gold(i.look) and is_offered(i, p_names, p_full, p_away)
         order by rank, seq limit v_depth) h
       where key.requires_key is not null
         and (key.requires_key = '' or string_to_array(key.requires_key, ',') <@ p_skills)
    ), locked as materialized (
      select i.id, i.rank, i.seq from item i
       where i.kind = q.kind and i.id in (select id from head order by rank, seq limit v_depth) and i.state = 'ready'
         and i.rules_due_at is null
       order by i.rank, i.seq limit p_count for update skip locked
    )
    select array_agg(id order by rank, seq), (select count(*) from head) into v_ids, v_seen from locked;
    exit when coalesce(cardinality(v_ids), 0) >= p_count or v_seen < v_depth or v_depth > 4096;
    v_depth := v_depth * 4 + 16;
  end loop;
  return v_ids;
end $$;
