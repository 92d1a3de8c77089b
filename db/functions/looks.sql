-- Second looks: an appeal, a check of a sample and an overturn are each a ticket of its own, which nobody who decided
-- before is handed. The ticket that it is about stays as it was decided; the look's end writes what counts now into its
-- column `look` (derive_item), and tells its receiver.
-- Whoever locks both locks the look first, as its end does.

-- The share of this decider's tickets that get a look.
create or replace function look_share(q queue, p_decider text) returns double precision language sql stable as $$
  select greatest(
    case when q.second ->> 'of' <> 'all' and (q.second ->> 'of' = 'models') <> starts_with(p_decider, 'model:') then 0
         when q.second -> 'adapt' <> 'null' then adapted_share(q.name, q.second -> 'adapt', p_decider)
         else (q.second ->> 'share')::double precision end,
    -- a model decides in mode auto only, which has a share of its own
    case when starts_with(p_decider, 'model:') then (q.assist ->> 'share')::double precision end)
$$;

-- The share of the earlier ones that were overturned, one wrong one added, so that it falls with each that is upheld.
create or replace function adapted_share(p_queue text, p_adapt jsonb, p_decider text) returns double precision
language plpgsql stable as $$
declare
  r look_record;
begin
  select * into r from look_record where queue = p_queue and decider = p_decider;
  return (p_adapt ->> 'min')::double precision
    + ((p_adapt ->> 'max')::double precision - (p_adapt ->> 'min')::double precision)
      * (coalesce(r.overturned, 0) + 1) / (coalesce(r.upheld + r.overturned, 0) + 1);
end $$;

-- A number from 0 to 1 of an id: as good as random for those who do not know the key, and always the same.
create or replace function draw_of(p_key bytea, p_id text) returns double precision language sql immutable as $$
  select ('x' || left(encode(sha256(p_key || convert_to(p_id, 'UTF8')), 'hex'), 13))::bit(52)::bigint
         / 4503599627370496::double precision
$$;

create or replace function look_entry(p_id text, p_cause text) returns jsonb language sql immutable
  return jsonb_build_object('id', p_id, 'causes', jsonb_build_array(p_cause), 'state', 'waiting', 'outcome', null,
                            'asked', '[]'::jsonb);

-- An id like those that the server gives to what is added without one.
create or replace function new_id(p_at timestamptz default clock_timestamp()) returns text
language plpgsql volatile as $$
declare
  v_ms bigint := extract(epoch from p_at) * 1000;
  v_time text := '';
begin
  while v_ms > 0 loop
    v_time := substr('0123456789abcdefghijklmnopqrstuvwxyz', (v_ms % 36)::integer + 1, 1) || v_time;
    v_ms := v_ms / 36;
  end loop;
  return v_time || '-'
    || translate(encode(substr(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 9, 9), 'base64'),
                 '+/', '-_');
end $$;

-- Adds a look at each of these decided tickets, to the queue of its looks.
create or replace function add_looks(
  p_ids text[], p_looks text[], p_cause text, p_actor text, p_priority bigint default null
) returns setof item language plpgsql as $$
begin
  return query
  insert into item (kind, id, queue, state, priority, base_priority, rank, body, content_hash, requires, requires_key,
                    base_requires, rules_due_at, exclude, skipped, callback, subject, version, created_at,
                    available_at, first_available_at, deadline_at, escalates_at, overdue_at, wake_at, event_seq,
                    last_event, last_actor, last_data, updated_at, look, category, own_category)
  select 'ticket', s.look, q.name, 'ready', p.priority, p.priority,
         item_rank('ticket', p.priority, t.now, q.level_seconds, false), o.body, sha256(convert_to(s.look, 'UTF8')),
         o.requires, o.requires_key, o.requires, case when q.rules <> '[]' then t.now end, o.exclude, d.deciders,
         -- the decision of another system: an overturn is sent there
         case when o.callback ? 'review' and not is_gold(o.look) then o.callback end, o.subject,
         nextval('item_version'), date_trunc('milliseconds', t.now), t.now, t.now, t.deadline_at, t.escalates_at,
         t.overdue_at,
         item_wake('ready', t.now, null, t.deadline_at, least(t.escalates_at, t.overdue_at)), 1, 'created', p_actor,
         json_build_object('queue', q.name, 'priority', p.priority, 'of', o.id, 'cause', p_cause), t.now,
         jsonb_build_object('of', jsonb_build_object('id', o.id, 'cause', p_cause), 'queue', o.queue,
                            'deciders', to_jsonb(d.deciders))
           || case p_actor when 'system' then '{"drawn": true}' else '{}' end::jsonb,
         o.category, o.category is not null
    from unnest(p_ids, p_looks) as s (id, look)
    join item o on o.kind = 'ticket' and o.id = any (p_ids) and o.id = s.id
   cross join lateral (
     select t.* from queue f
       join queue t on t.kind = 'ticket' and is_there(t) and t.name in (f.second ->> 'queue', f.name)
      where f.kind = 'ticket' and f.name = o.queue order by t.name = f.name limit 1) q
   cross join lateral (
     select o.ended_by || array(
       select l.ended_by from jsonb_array_elements(o.look -> 'looks') e
        -- each by its key: a planner that takes few to be settled would read all that are
        cross join lateral (select state, ended_by from item where kind = 'ticket' and id = e ->> 'id' offset 0) l
        where l.state = 'settled' and l.ended_by <> o.ended_by) as deciders offset 0) d
   cross join lateral (select coalesce(p_priority, o.priority) as priority) p
   cross join lateral (
     select n.now, n.now + make_interval(secs => q.deadline_seconds) as deadline_at,
            next_escalation(q.escalations, n.now, -1) as escalates_at,
            n.now + make_interval(secs => q.service_seconds) as overdue_at from (select clock_timestamp() as now) n) t
  returning *;
end $$;

-- Asks for a look. Of many calls at once the first opens it; who comes later finds it. That of a case is added by the
-- caller in the same transaction; appeals against courts have no time limit.
-- p_by        who asks
-- p_decision  of an overturn, which is decided at once
-- answer      created, joined, decided or same, with the look; else why there is none
create or replace function ask_for_look(
  p_kind text, p_id text, p_cause text, p_by text, p_reason text, p_priority bigint, p_decision json, p_actor text,
  out answer text, out original text, out look_id text
) language plpgsql as $$
declare
  o item;
  l item;
  v_asked jsonb := jsonb_strip_nulls(jsonb_build_object('cause', p_cause, 'by', p_by))
    || case when p_decision is null then '{}' else jsonb_build_object('decision', p_decision::jsonb) end;
  v_entry jsonb;
  v_days double precision;
begin
  select coalesce(look #>> '{of,id}', id) into original from item where kind = p_kind and id = p_id;
  perform pg_advisory_xact_lock(person_key('look', p_kind, original));
  select * into o from item where kind = p_kind and id = original;
  answer := case when not found then 'not_found' when o.erased then 'erased'
                 when o.state <> 'settled' or p_kind = 'ticket' and is_gold(o.look) then 'not_final' end;
  if answer is not null then return; end if;

  select e into v_entry from jsonb_array_elements(o.look -> 'looks') e
   where exists (select from jsonb_array_elements(e -> 'asked') a where a = v_asked)
     and (e ->> 'outcome' is null or p_cause = 'overturn' and p_decision::jsonb = standing_decision(o)::jsonb) limit 1;
  if found then answer := 'same'; look_id := v_entry ->> 'id'; return; end if;

  if p_cause = 'overturn' and o.ended_by = any (known_as(p_by)) then answer := 'forbidden'; return; end if;
  select coalesce((second ->> 'appealDays')::double precision, 180) into v_days
    from queue where kind = 'ticket' and name = o.queue;
  if p_cause = 'appeal' and o.ended_at < clock_timestamp() - make_interval(secs => v_days * 86400) then
    answer := 'window_closed';
    return;
  end if;

  select e into v_entry from jsonb_array_elements(o.look -> 'looks') e where e ->> 'outcome' is null;
  if found then
    look_id := v_entry ->> 'id';
    select * into l from item where kind = p_kind and id = look_id for update;
  end if;
  if l.id is not null and l.ended_at is null then
    if p_cause = 'check' or p_cause = 'appeal' and v_entry -> 'causes' ? 'appeal' then
      answer := 'already_open';
      return;
    end if;
    answer := case p_cause when 'overturn' then 'decided' else 'joined' end;
  else
    answer := 'created';
    look_id := new_id();
    v_entry := look_entry(look_id, p_cause);
  end if;
  v_entry := v_entry || jsonb_build_object('asked', v_entry -> 'asked' || v_asked, 'causes', v_entry -> 'causes'
    || case when v_entry -> 'causes' ? p_cause then '[]' else to_jsonb(p_cause) end);
  update item i set look = with_entry(i.look, v_entry) where i.kind = p_kind and i.id = o.id returning * into o;
  if p_kind = 'case' then return; end if;
  if answer = 'created' then perform add_looks(array[o.id], array[look_id], p_cause, p_actor, p_priority); end if;
  if p_cause = 'overturn' then
    perform end_items('ticket', array[look_id], 'settled', p_by, p_reason, p_results => array[p_decision::text]);
  elsif p_reason is not null then
    perform leave_note('ticket', look_id, p_by, p_reason);
  end if;
end $$;

-- The list of looks with this one of them as it is now.
create or replace function with_entry(p_look jsonb, p_entry jsonb) returns jsonb language sql immutable
  return coalesce(p_look, '{}') || jsonb_build_object('looks', coalesce((
           select jsonb_agg(e order by no) from jsonb_array_elements(p_look -> 'looks') with ordinality as s (e, no)
            where e ->> 'id' <> p_entry ->> 'id'), '[]') || p_entry);

create or replace function standing_decision(o item) returns json language sql immutable as $$
  select coalesce((o.look #> '{standing,decision}')::json, o.result)
$$;

-- The steps of a JSON pointer.
create or replace function pointer_path(p_pointer text) returns text[] language sql immutable parallel safe
  return array(select replace(replace(step, '~1', '/'), '~0', '~')
                 from unnest((string_to_array(p_pointer, '/'))[2:]) with ordinality as s (step, no) order by no);

-- The time in an id that new_id, or a process of Docket, has made; null: it was chosen.
create or replace function id_time(p_id text) returns timestamptz language sql immutable as $$
  select case when p_id ~ '^[0-9a-z]{8}-[A-Za-z0-9_-]{12}$' then to_timestamp((
           select sum((strpos('0123456789abcdefghijklmnopqrstuvwxyz', digit) - 1) * 36 ^ (8 - no))
             from string_to_table(left(p_id, 8), null) with ordinality as s (digit, no)) / 1000) end
$$;

-- What is compared of a decision: its values at these JSON pointers; null: the whole.
create or replace function compared(p_pointers jsonb, p_decision json) returns jsonb language sql immutable as $$
  select jsonb_agg(case when d.value #> p.path is null then '[]' else jsonb_build_array(d.value #> p.path) end
                   order by p.no)
    from (select p_decision::jsonb as value) d, (
    select no, pointer_path(pointer) as path
      from jsonb_array_elements_text(case jsonb_typeof(p_pointers) when 'array' then p_pointers else '[""]' end)
             with ordinality as s (pointer, no)) p
$$;

create or replace function same_decision(p_pointers jsonb, p_one json, p_other json) returns boolean
language sql immutable as $$ select compared(p_pointers, p_one) = compared(p_pointers, p_other) $$;

-- Whether the form was checked that counts for a look: that of the queue in which the ticket was decided.
create or replace function fits_form_of_look(p_look jsonb, p_form bigint) returns boolean language sql stable as $$
  select form is null or settings_version = p_form from queue where kind = 'ticket' and name = p_look ->> 'queue'
$$;

-- Writes a look's end into the ticket that it is about. Returns the outcome.
create or replace function end_look(l item) returns text language plpgsql as $$
declare
  o item;
  q queue;
  v_outcome text := 'none';
  v_entry jsonb;
begin
  select * into o from item where kind = l.kind and id = l.look #>> '{of,id}' for update;
  if not found then return v_outcome; end if;
  select * into q from queue where kind = o.kind and name = o.queue;
  if l.state = 'settled' then
    v_outcome := case when same_decision(case l.kind when 'case' then '["/winner"]' else q.second -> 'compare' end,
                                         l.result, standing_decision(o)) then 'upheld' else 'overturned' end;
  end if;
  select e || jsonb_build_object('state', l.last_event, 'outcome', v_outcome) into v_entry
    from jsonb_array_elements(o.look -> 'looks') e where e ->> 'id' = l.id;
  update item i
     set look = jsonb_build_object('version', i.version) || with_entry(i.look, v_entry)
                || case when v_outcome = 'overturned' then jsonb_build_object('standing', jsonb_build_object(
                     'decision', l.result, 'by', l.ended_by, 'at', iso_time(l.ended_at), 'ticket', l.id)
                     || jsonb_strip_nulls(jsonb_build_object('reason', l.end_reason)))
                   else '{}' end,
         version = nextval('item_version'), event_seq = i.event_seq + 1, last_actor = l.last_actor,
         last_event = case v_outcome when 'none' then 'look_ended' else v_outcome end,
         last_data = json_strip_nulls(json_build_object(
           'look', l.id, 'causes', v_entry -> 'causes', 'decision', l.result, 'reason', l.end_reason))
   where i.kind = o.kind and i.id = o.id
  returning * into o;
  perform tell_of_look(o, q, l.id);
  if v_outcome <> 'none' and l.kind = 'ticket' then
    insert into look_record as r (queue, decider, upheld, overturned)
    values (o.queue, o.ended_by, (v_outcome = 'upheld')::integer, (v_outcome = 'overturned')::integer)
    on conflict (queue, decider) do update
       set upheld = r.upheld * 0.98 + excluded.upheld, overturned = r.overturned * 0.98 + excluded.overturned;
  end if;
  return v_outcome;
end $$;

-- Opens the delivery of a look's outcome, with what it says. The first number is that of the first decision.
create or replace function tell_of_look(o item, q queue, p_look text) returns void language sql as $$
  with opened as (
    insert into delivery (kind, item_id, n, type, version, queue, url, state, body)
    select o.kind, o.id, greatest((select max(n) from delivery where kind = o.kind and item_id = o.id), 1) + 1,
           o.kind || '.' || o.last_event, o.version, o.queue, c.callback ->> 'url', 'pending',
           json_build_object('look', p_look, 'state', o.look)
      from (select coalesce(o.callback, q.callback) as callback) c
     where c.callback ? 'url' and not is_gold(o.look)
    returning kind, item_id, n)
  insert into delivery_start (kind, item_id, n) select kind, item_id, n from opened
$$;

create or replace function has_open_look(i item) returns boolean language sql immutable as $$
  select coalesce(i.look @? '$.looks[*] ? (@.outcome == null)', false)
$$;

-- The looks at an item, open or not.
create or replace function looks_of(p_kind text, p_id text) returns text[] language sql stable as $$
  select array(select e ->> 'id' from item, jsonb_array_elements(look -> 'looks') e where kind = p_kind and id = p_id)
$$;

-- The column without what a look says; null: any look. That it was, and what it came to, stays.
create or replace function without_look(p_column jsonb, p_look text) returns jsonb language sql immutable
  return p_column || case when p_column ? 'looks' then jsonb_build_object('looks', (
           select jsonb_agg(case when p_look is null or e ->> 'id' = p_look then e || '{"asked": []}' else e end
                            order by no) from jsonb_array_elements(p_column -> 'looks') with ordinality as s (e, no)))
                       else '{}' end
         || case when p_look is null and p_column ? 'standing' or p_column #>> '{standing,ticket}' = p_look
                 then jsonb_build_object('standing', (p_column -> 'standing') - 'reason' || '{"decision": null}')
                 else '{}' end;

-- Erases what the ticket that a look is about says of it.
create or replace function erase_traces(p_kind text, p_look text, p_id text) returns void language plpgsql as $$
begin
  update item set look = without_look(look, p_look) where kind = p_kind and id = p_id;
  update event set data = skeleton(data) where kind = p_kind and item_id = p_id and data ->> 'look' = p_look;
  update delivery
     set state = case when state = 'pending' and body ->> 'look' = p_look then 'failed' else state end,
         body = case when body ->> 'look' <> p_look then json_build_object(
           'look', body ->> 'look', 'state', without_look((body -> 'state')::jsonb, p_look)) end
   where kind = p_kind and item_id = p_id and n > 1 and body -> 'look' is not null;
end $$;

create or replace function deciders_of(p_look jsonb) returns text[] language sql immutable
  return array(select jsonb_array_elements_text(p_look -> 'deciders'));

create or replace function decided_before(p_look jsonb, j juror_seen) returns boolean language sql immutable as $$
  select p_look is not null and deciders_of(p_look) && (j.ids || j.persons)
$$;
