-- Models beside people (docs/guides/models.md): what models suggest for tickets is kept beside them, shown to whoever
-- decides where their queue is in mode suggest, and decides in mode auto.

-- Keeps a suggestion, in place of the model's one for an earlier body. An erasure of the ticket waits for this, or this
-- for the erasure, so that none is left over.
-- p_form  settings version whose form the decision fits
-- p_seen  the version of the ticket that the model saw, or null
-- No row: the model has one for this body, the ticket is over or has changed, or the settings have.
create or replace function add_suggestion(
  p_id text, p_model text, p_decision json, p_confidence double precision, p_reasons json, p_hash text, p_form bigint,
  p_seen bigint
) returns setof suggestion language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(person_key('suggestion', '', p_id));
  return query
    insert into suggestion (item_id, model, queue, mode, decision, confidence, reasons, hash, form_version,
                            content_version, decides)
    select i.id, p_model, i.queue, m.mode, p_decision, p_confidence, p_reasons, decode(p_hash, 'hex'),
           case when q.form is not null then p_form end, i.content_version, m.mode = 'auto'
      from item i
      join queue q on q.kind = i.kind and q.name = i.queue
     cross join lateral (select coalesce(q.assist ->> 'mode', 'off') as mode) m
     where i.kind = 'ticket' and i.id = p_id and i.ended_at is null
       and (q.form is null or q.settings_version = p_form) and (p_seen >= i.content_version) is not false
    on conflict (item_id, model) do update
       set queue = excluded.queue, mode = excluded.mode, decision = excluded.decision, confidence = excluded.confidence,
           reasons = excluded.reasons, hash = excluded.hash, form_version = excluded.form_version,
           content_version = excluded.content_version, decides = excluded.decides, seq = default,
           at = clock_timestamp()
     where excluded.content_version > coalesce(suggestion.content_version, 0)
    returning *;
end $$;

-- Whether a suggestion may decide its ticket now.
create or replace function may_decide(s suggestion, i item, q queue) returns boolean language sql volatile as $$
  select i.state = 'ready' and i.rules_due_at is null and i.requires = '{}' and i.look is null
     and (i.deadline_at is null or i.deadline_at > clock_timestamp())
     and not q.paused and q.assist ->> 'mode' = 'auto'
     and s.decides and s.queue = i.queue and s.content_version is not distinct from i.content_version
     and s.confidence >= (q.assist ->> 'minConfidence')::double precision
     and is_offered(i, array['model:' || s.model], '{}', away_names())
$$;

-- The suggestion that decides each of these tickets now, if any: the first that may.
create or replace function deciding_suggestions(p_ids text[]) returns setof suggestion language sql volatile as $$
  select distinct on (s.item_id) s.*
    from unnest(p_ids) as p (id)
    join item i on i.kind = 'ticket' and i.id = p.id and i.state = 'ready'
    join queue q on q.kind = i.kind and q.name = i.queue
    join suggestion s on s.item_id = i.id and may_decide(s, i, q)
   order by s.item_id, s.seq
$$;

-- Decides tickets by what models suggest, each by a lease of the model's own. A ticket that somebody holds is left to
-- them, and so is one whose suggestion was checked against another form.
-- p_tokens  of the leases, one for each ticket
create or replace function decide_suggested(p_ids text[], p_tokens text[]) returns setof item language plpgsql as $$
declare
  v_now timestamptz;
  v_ids text[];
  v_persons text[];
  v_given text[];
  v_results text[];
  v_forms bigint[];
  v_none text[];
begin
  perform from item where kind = 'ticket' and id = any (p_ids) order by id for update;
  v_now := clock_timestamp();
  select array_agg(s.item_id), array_agg('model:' || s.model), array_agg(t.token), array_agg(s.decision::text),
         array_agg(s.form_version)
    into v_ids, v_persons, v_given, v_results, v_forms
    from deciding_suggestions(p_ids) s
    join unnest(p_ids, p_tokens) as t (id, token) on t.id = s.item_id
    join queue q on q.kind = 'ticket' and q.name = s.queue
   where q.form is null or s.form_version = q.settings_version;
  if v_ids is null then return; end if;
  update item i
     set state = 'held', lease_id = s.token, holder = s.person, slot = -i.seq, granted_at = v_now,
         expires_at = v_now + interval '1 minute', attempts = i.attempts + 1, event_seq = i.event_seq + 1,
         last_event = 'claimed', last_actor = s.person, last_data = json_build_object('attempt', i.attempts + 1)
    from unnest(v_ids, v_persons, v_given) as s (id, person, token)
   where i.kind = 'ticket' and i.id = s.id;
  update suggestion set decides = false where item_id = any (v_ids) and decides;
  v_none := array_fill(null::text, array[cardinality(v_ids)]);
  return query select * from settle_items(
    'ticket', v_ids, v_given, v_results, v_none, v_none, v_forms, v_none::bigint[],
    -- a model decides this ticket and no other of its subject
    true);
end $$;

-- The key of a ticket's suggestions. Copies of gold have those of their gold, which no ticket's id can be taken for.
create or replace function suggested_as(i item) returns text language sql immutable as $$
  select coalesce('/' || (i.look ->> 'gold'), i.id)
$$;

-- The part that a model has in the decision of whoever holds a ticket.
create or replace function automation_of(i item) returns text language sql stable as $$
  select case when starts_with(i.holder, 'model:') then 'full'
              when exists (select from suggestion where item_id = suggested_as(i) and i.holder = any (shown_to))
              then 'partial' end
$$;

-- Of what models said of these tickets nothing is left but when, how sure they were, and who was shown it.
create or replace function erase_suggestions(p_ids text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(s.key) from (
    select distinct person_key('suggestion', '', id) as key from unnest(p_ids) as id order by 1) s;
  update suggestion set decision = null, reasons = null, hash = '', decides = false where item_id = any (p_ids);
end $$;

-- The work list of a model: tickets that wait or are held, and gold, without a suggestion of it, in the order of the
-- queue. The ready index is read once for each set of skills that occurs.
create or replace function unsuggested(p_queue text, p_model text, p_limit integer) returns setof item
language sql stable as $$
  with recursive key (requires_key) as (
    (select requires_key from item
      where kind = 'ticket' and queue = p_queue and state = 'ready' order by requires_key limit 1)
    union all
    select (select i.requires_key from item i
             where i.kind = 'ticket' and i.queue = p_queue and i.state = 'ready'
               and i.requires_key > key.requires_key order by i.requires_key limit 1)
      from key where key.requires_key is not null
  ), waiting as (
    select h.id from key cross join lateral (
      select i.id from item i
       where i.kind = 'ticket' and i.queue = p_queue and i.state = 'ready' and i.requires_key = key.requires_key
         and is_unsuggested(i, p_model)
       order by i.rank, i.seq limit p_limit) h
     where key.requires_key is not null
    union all
    select i.id from item i
     where i.kind = 'ticket' and i.queue = p_queue and i.state = 'held' and is_unsuggested(i, p_model))
  select (l.i).* from (
    select i from waiting w join item i on i.kind = 'ticket' and i.id = w.id
    union all
    select as_ticket(g) from gold g
     where g.queue = p_queue and not g.retired
       and not exists (select from suggestion s where s.item_id = '/' || g.id and s.model = p_model)
       and not exists (select from item i where i.kind = 'ticket' and i.id = g.id)) l
   order by (l.i).rank, (l.i).seq limit p_limit
$$;

create or replace function is_unsuggested(i item, p_model text) returns boolean language sql stable as $$
  select i.look is null and not 'model:' || p_model = any (i.exclude)
     and not exists (select from suggestion s where s.item_id = i.id and s.model = p_model
                        and s.content_version is not distinct from i.content_version)
$$;

-- Gold as a model is shown it.
create or replace function as_ticket(g gold) returns item language sql stable as $$
  select json_populate_record(null::item, json_build_object(
           'kind', 'ticket', 'id', g.id, 'queue', g.queue, 'seq', g.seq, 'state', 'ready', 'body', g.body,
           'priority', coalesce(g.priority, 0), 'subject', g.subject, 'requires', g.requires, 'exclude', '{}'::text[],
           'attempts', 0, 'version', 0, 'created_at', g.changed_at, 'available_at', g.changed_at,
           'category', category_in(g.body, q.category_from),
           'rank', item_rank('ticket', coalesce(g.priority, 0), g.changed_at, q.level_seconds, false)))
    from queue q where q.kind = 'ticket' and q.name = g.queue
$$;
