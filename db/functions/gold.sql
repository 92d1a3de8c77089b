-- Gold tickets: each person is handed each of them at most once, as a copy that looks like the tickets around it. It is
-- an item with `look = {"gold": …}`. It is its person's alone, so no claim finds it in the queue (head_of_queue).

create or replace function is_gold(p_look jsonb) returns boolean language sql immutable parallel safe
  return coalesce(p_look ? 'gold', false);

-- Whether a look was drawn of a decision of this person's. What they decide as gold is never drawn, so where there is
-- gold no figure that they are shown may count it.
create or replace function is_own_draw(p_look jsonb, p_names text[]) returns boolean language sql immutable
  return p_look ? 'drawn' and p_look -> 'deciders' ?| p_names;

-- The tickets that are handed to these persons: those that were chosen for them, and gold, which goes before a ticket
-- where its person may get more, or else takes its place. A copy that waits for its person goes by its rank. Where
-- nothing was chosen, all gold that is left for the person is handed out, because the counts that they see have it.
-- p_ids  for each person what was chosen, or null
create or replace function with_gold(q queue, p_persons text[], p_skills text[], p_ids text[]) returns text[]
language plpgsql as $$
declare
  v_share double precision := (q.gold ->> 'share')::double precision;
  v_copy text;
  v_free integer;
  e register_entry;
begin
  p_ids := p_ids || array_fill(null::text, array[cardinality(p_persons) - coalesce(cardinality(p_ids), 0)]);
  for n in 1 .. cardinality(p_persons) loop
    e := register_of(p_persons[n], array(
      select p_ids[m] from generate_series(1, n - 1) m where p_persons[m] = p_persons[n] and p_ids[m] is not null));
    continue when e.away_until is not null or q.registered and not e.registered;
    if not q.registered then e.skills := p_skills; end if;
    -- gold before it may have used up what its person may have today
    if e.spent is not null and not was_handed(p_ids[n], e.names) and (e.spent or exists (
      select from item where kind = 'ticket' and id = p_ids[n] and category = any (e."full"))) then
      p_ids[n] := null;
    end if;
    select i.id into v_copy from gold_copy c
      join item i on i.kind = 'ticket' and i.id = c.id
      left join item o on o.kind = 'ticket' and o.id = p_ids[n]
     where c.person = any (e.names) and c.outcome is null and i.queue = q.name and i.state = 'ready'
       and i.requires <@ e.skills and i.rules_due_at is null and coalesce(i.deadline_at, 'infinity') > clock_timestamp()
       and i.id <> all (array_remove(p_ids, null)) and (o.id is null or (i.rank, i.seq) < (o.rank, o.seq))
     order by i.rank, i.seq limit 1 for update of i skip locked;
    if v_copy is null and e.spent is not true and v_share > 0 and (p_ids[n] is null or random() < v_share) then
      v_copy := add_copy(q, e, p_ids[n]);
    end if;
    continue when v_copy is null;
    v_free := case when p_persons[1] = all (p_persons) then array_position(p_ids, null, n) end;
    p_ids := p_ids[:n - 1] || v_copy || p_ids[n:v_free - 1] || p_ids[coalesce(v_free, n) + 1:];
  end loop;
  return p_ids;
end $$;

-- Gold that is left for a person; where suggestions are shown, only what has one.
create or replace function gold_left(p_queue text, p_person text) returns setof gold language sql stable as $$
  select g.* from gold g
   where g.queue = p_queue and not g.retired
     and (exists (select from suggestion s where s.item_id = '/' || g.id) or not exists (
       select from queue q where q.kind = 'ticket' and q.name = p_queue and q.assist ->> 'mode' = 'suggest'))
     and not exists (
     select from gold_copy c
      where c.queue = g.queue and c.gold = g.id and c.person = any ((select known_as(p_person))::text[]))
$$;

-- A copy of some gold that is left for a person, to be handed out before a ticket: it is a little older than that,
-- unless several were added at once, and has from it what gold does not say.
-- p_before  null: nothing else waits
-- Returns null where there is none.
create or replace function add_copy(q queue, e register_entry, p_before text) returns text
language plpgsql as $$
declare
  g gold;
  n item;
  v_id text;
  v_at timestamptz;
  v_before timestamptz;
  v_lag interval;
  v_seq bigint;
begin
  select * into g from gold_left(q.name, e.name)
   where requires <@ e.skills and coalesce(category_in(body, q.category_from) <> all (e."full"), true)
   order by random() limit 1;
  if not found then return null; end if;
  select * into n from item where kind = 'ticket' and id = coalesce(p_before, (
    select id from items_before(q.name, e.name, 'infinity') order by created_at desc limit 1));
  v_lag := id_time(n.id) - n.created_at;
  if p_before is null then
    n.created_at := clock_timestamp(); n.available_at := n.created_at; n.escalated_seconds := -1; n.exclude := '{}';
    n.priority := coalesce(n.base_priority, 0); n.callback := null;
    n.deadline_at := n.created_at + make_interval(secs => q.deadline_seconds);
  end if;
  select max(b.created_at) into v_before from items_before(q.name, e.name, n.created_at) b where b.id <> p_before
      or p_before is null;
  v_at := date_trunc('milliseconds', n.created_at - random() * least(
    n.created_at - coalesce(v_before, n.created_at - interval '10 seconds'), '10 seconds',
    (n.deadline_at - clock_timestamp()) / 2));
  select max(b.seq) + 1 into v_seq from items_before(q.name, e.name, v_at) b where b.created_at = v_at;
  v_id := case when starts_with(n.id, q.gold ->> 'idPrefix')
               then (q.gold ->> 'idPrefix') || like_of(substr(n.id, length(q.gold ->> 'idPrefix') + 1))
               else coalesce(q.gold ->> 'idPrefix', '') || new_id(v_at + coalesce(v_lag, '-1 ms')) end;
  insert into gold_copy (id, queue, gold, person)
  select v_id, q.name, g.id, e.name where not exists (select from item where kind = 'ticket' and id = v_id)
  on conflict do nothing;
  if not found then return null; end if;
  insert into item (kind, id, queue, state, priority, base_priority, rank, body, content_hash, requires, requires_key,
                    base_requires, exclude, callback, subject, category, version, created_at, available_at,
                    first_available_at, deadline_at, escalated_seconds, escalates_at, wake_at, event_seq, last_event,
                    last_actor, last_data, updated_at, look)
  select 'ticket', v_id, q.name, 'ready', p.priority, p.priority,
         item_rank('ticket', p.priority, t.available_at, q.level_seconds, false), g.body,
         sha256(convert_to(v_id, 'UTF8')), g.requires, requires_key(g.requires), g.requires, n.exclude,
         -- its decision must hold what theirs must; nothing is sent
         case when n.callback ? 'review' then n.callback end, g.subject, category_in(g.body, q.category_from),
         nextval('item_version'), v_at, t.available_at, t.available_at, t.deadline_at, n.escalated_seconds, s.at,
         item_wake('ready', t.available_at, null, t.deadline_at, s.at), 1, 'created', coalesce((
           select actor from event where kind = 'ticket' and item_id = n.id and seq = 1), 'system'),
         json_build_object('queue', q.name, 'priority', p.priority), clock_timestamp(),
         jsonb_build_object('gold', g.id, 'seq', coalesce(v_seq, n.seq))
    from (select coalesce(g.priority, n.priority) as priority) p
   cross join (select n.available_at - (n.created_at - v_at) as available_at,
                      n.deadline_at - (n.created_at - v_at) as deadline_at) t
   cross join lateral (select next_escalation(q.escalations, t.available_at, n.escalated_seconds) as at) s;
  return v_id;
end $$;

-- The newest two of each state, of those held only the person's, that were not added after an instant.
create or replace function items_before(p_queue text, p_person text, p_at timestamptz)
returns table (id text, created_at timestamptz, seq bigint) language sql stable as $$
  select s.* from unnest(array['delayed', 'ready', 'settled', 'invalidated', 'expired', 'dead']) w
   cross join lateral (
     select i.id, i.created_at, i.seq from item i
      where i.kind = 'ticket' and i.queue = p_queue and i.state = w and i.state <> 'held' and i.created_at <= p_at
      order by i.created_at desc, i.seq desc limit 2) s
  union all
  select i.id, i.created_at, i.seq from item i
   where i.kind = 'ticket' and i.queue = p_queue and i.state = 'held' and i.holder = p_person and i.created_at <= p_at
$$;

-- Letters and digits at random, of the same sorts in the same places.
create or replace function like_of(p_text text) returns text language sql volatile as $$
  select string_agg(case when c ~ '[0-9]' then floor(random() * 10)::integer::text
                         when c ~ '[a-z]' then chr(97 + floor(random() * 26)::integer)
                         when c ~ '[A-Z]' then chr(65 + floor(random() * 26)::integer) else c end, '' order by no)
    from string_to_table(p_text, null) with ordinality as s (c, no)
$$;

-- Writes what a copy has come to, and retires gold that most get wrong.
create or replace function end_copy(i item, p_holder text) returns void language plpgsql as $$
declare
  g gold;
  v_outcome text;
begin
  select o.* into g from gold_copy c join gold o on o.queue = c.queue and o.id = c.gold where c.id = i.id;
  v_outcome := case when i.last_actor is distinct from p_holder then 'none'
    when i.look ? 'passed' then 'skipped'
    when i.state <> 'settled' or g.id is null then 'none'
    when same_decision((select second -> 'compare' from queue where kind = 'ticket' and name = g.queue),
                       i.result, g.answer) then 'right' else 'wrong' end;
  update gold_copy set outcome = v_outcome, at = clock_timestamp() where id = i.id;
  if v_outcome = 'wrong' then
    update gold o set retired = true from gold_counts(g) n
     where o.queue = g.queue and o.id = g.id and not o.retired and n.judged >= 5 and n."right" * 2 < n.judged;
  end if;
end $$;

-- What came of a gold ticket since it was changed.
create or replace function gold_counts(g gold, out judged integer, out "right" integer, out skipped integer,
                                       out disputed integer) language sql stable as $$
  select count(*) filter (where outcome in ('right', 'wrong')), count(*) filter (where outcome = 'right'),
         count(*) filter (where outcome = 'skipped'), count(*) filter (where c.disputed)
    from gold_copy c where c.queue = g.queue and c.gold = g.id and c.at >= g.changed_at
$$;

-- Notes that whoever decided a ticket disputes it; once each. Returns the ticket.
create or replace function dispute_ticket(p_id text, p_person text, p_reason text) returns setof item
language plpgsql as $$
begin
  perform from item where kind = 'ticket' and id = p_id for update;
  if exists (select from event
              where kind = 'ticket' and item_id = p_id and type = 'disputed' and actor = p_person) then return; end if;
  update gold_copy set disputed = true where id = p_id;
  return query update item i
     set event_seq = i.event_seq + 1, last_event = 'disputed', last_actor = p_person,
         last_data = json_build_object('reason', p_reason)
   where i.kind = 'ticket' and i.id = p_id and i.state = 'settled' and i.ended_by = p_person and not i.erased
  returning i.*;
end $$;

-- A person's copies in a queue as they see them: what they passed on goes on waiting.
create or replace function own_copies(p_queue text, p_person text) returns setof item language plpgsql stable as $$
declare
  i item;
begin
  for i in select o.* from gold_copy c join item o on o.kind = 'ticket' and o.id = c.id and o.queue = p_queue
            where c.person = any (known_as(p_person)) loop
    if i.look ? 'passed' then
      i.state := case when i.available_at > clock_timestamp() then 'delayed' else 'ready' end;
    end if;
    return next i;
  end loop;
end $$;
