-- Lists of tickets by more than the indexes of `list_items` have (db/queries/lists.sql).

-- The verdict of a decision: the member `verdict` of an object, else the whole, as text.
create or replace function verdict_of(p_decision json) returns text language sql immutable parallel safe
  return case json_typeof(p_decision) when 'object' then p_decision ->> 'verdict'
                                      when 'array' then null else p_decision #>> '{}' end;

-- Tickets that fit a filter, newest or oldest first. Each queue and state is a stream in the order of an index:
-- item_state; of what a person decided item_decided_by, of what was overturned item_overturned, of what models had a
-- part in item_automated, of a subject item_subject. They are merged, and each ticket on the way is looked at, at most
-- 10,000.
-- f  the filter and `order` of the API, with `person` for who holds or decided, `unseen` for without those that have an
--    open look, and (beforeCreatedAt, beforeSeq) of the last row of the page before
-- Words of bodies are those of db/functions/full-text.sql.
-- Where it stops for the number that it has looked at, the last row has no id, and says how far it has come.
create or replace function walk_tickets(f jsonb, p_limit integer)
returns table (id text, created_at timestamptz, seq bigint) language plpgsql stable
-- the planner takes streams for short (0004_steady_plans.sql), and would read and sort them
set enable_sort = off as $$
declare
  c_most constant integer := 10000;
  c_rare constant integer := 5000;
  -- what only decisions have
  v_decided boolean := f ?| '{decidedBy,decidedAfter,decidedBefore,verdict,overturned}'
                       or coalesce(f ->> 'automation' <> 'none', false);
  v_order constant text := case f ->> 'order' when 'oldest' then 'created_at, seq' else 'created_at desc, seq desc' end;
  v_states text[] := array(
    select s from unnest('{held,ready,delayed,settled,invalidated,expired,dead}'::text[]) s
     where coalesce(s = f ->> 'state', true) and (s = 'settled' or not v_decided)
       and (s in ('held', 'settled') or not f ? 'person'));
  v_range text;
  v_fits text;
  v_streams text[];
  v_ids text[];
  v_read integer := 0;
  r record;
begin
  select concat(string_agg(condition, ' and ') filter (where is_range)),
         concat_ws(' and ', 'state = any ($2)', string_agg(condition, ' and ') filter (where not is_range))
    into v_range, v_fits
    from (values
      ('createdAfter', true, $c$created_at > ($1 ->> 'createdAfter')::timestamptz$c$),
      ('createdBefore', true, $c$created_at < ($1 ->> 'createdBefore')::timestamptz$c$),
      -- a ticket may come from a clock that is ahead by a minute
      ('decidedBefore', true, $c$created_at < ($1 ->> 'decidedBefore')::timestamptz + interval '1 minute'$c$),
      ('beforeSeq', true, format($c$(created_at, seq) %s (($1 ->> 'beforeCreatedAt')::timestamptz,
        ($1 ->> 'beforeSeq')::bigint)$c$, case f ->> 'order' when 'oldest' then '>' else '<' end)),
      ('queue', false, $c$queue = $1 ->> 'queue'$c$),
      ('subject', false, $c$subject = $1 ->> 'subject'$c$),
      ('category', false, $c$category = $1 ->> 'category'$c$),
      ('person', false, $c$case state when 'held' then holder else ended_by end = $1 ->> 'person'$c$),
      ('decidedBy', false, $c$ended_by = $1 ->> 'decidedBy'$c$),
      ('decidedAfter', false, $c$ended_at > ($1 ->> 'decidedAfter')::timestamptz$c$),
      ('decidedBefore', false, $c$ended_at < ($1 ->> 'decidedBefore')::timestamptz$c$),
      ('verdict', false, $c$verdict_of(result) = $1 ->> 'verdict'$c$),
      ('automation', false, $c$coalesce(automation, 'none') = $1 ->> 'automation'$c$),
      ('overturned', false, $c$coalesce(look ? 'standing', false) = ($1 ->> 'overturned')::boolean$c$),
      -- not `exists`, which the planner may answer by reading all that have the word
      ('text', false, $c$(select t.words @@ websearch_to_tsquery('simple', $1 ->> 'text')
                            from ticket_text t where t.id = i.id)$c$),
      ('unseen', false, $c$not has_open_look(i)$c$)) c (name, is_range, condition)
   where f ? name;

  v_streams := case when f ? 'subject' then array[$c$subject = $1 ->> 'subject'$c$] else array(
    select concat_ws(' and ', format('queue = %L and state = %L', q.name, s),
                     case when s = 'held' and f ? 'person' then $c$holder = $1 ->> 'person'$c$ end,
                     case when s = 'settled' and f ? 'decidedBy' then $c$ended_by = $1 ->> 'decidedBy'$c$
                          when s = 'settled' and f ? 'person' then $c$ended_by = $1 ->> 'person'$c$ end,
                     case when f ->> 'overturned' = 'true' then $c$look ? 'standing'$c$ end,
                     case when f ->> 'automation' <> 'none' then $c$automation = $1 ->> 'automation'$c$ end)
      from queue q cross join unnest(v_states) s
     where q.kind = 'ticket' and coalesce(q.name = f ->> 'queue', true)
       and case s when 'held' then exists (
                    select from item i where i.kind = 'ticket' and i.queue = q.name and i.state = 'held')
                  else exists (select from item i where i.kind = 'ticket' and i.queue = q.name and i.state = s
                                  and i.state <> 'held') end) end;
  if v_streams = '{}' then return; end if;
  if f ? 'text' then
    -- rare words are looked up, common ones met on the way
    v_ids := array(select t.id from ticket_text t where t.words @@ websearch_to_tsquery('simple', f ->> 'text')
                    limit c_rare + 1);
    if cardinality(v_ids) <= c_rare then v_streams := array['id = any ($3)']; end if;
  end if;

  for r in execute format('select id, created_at, seq, coalesce((look ->> ''seq'')::bigint, seq) as no, fits '
      'from (%s) s order by %s limit %s', (
        select string_agg(format('(select id, created_at, seq, look, %s as fits from item i where %s '
                   'order by %s)', v_fits,
                 concat_ws(' and ', 'kind = ''ticket''', stream, nullif(v_range, '')), v_order), ' union all ')
          from unnest(v_streams) as stream), v_order, c_most) using f, v_states, v_ids
  loop
    v_read := v_read + 1;
    continue when r.fits is not true and v_read < c_most;
    id := case when r.fits then r.id end; created_at := r.created_at; seq := r.no;
    return next;
    p_limit := p_limit - 1;
    exit when p_limit = 0;
    -- the last one may fit, and the walk goes on behind it
    if r.fits and v_read = c_most then id := null; return next; end if;
  end loop;
end $$;
