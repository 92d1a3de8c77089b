-- Erasures (docs/guides/erasure.md). What was erased leaves its row as a skeleton, so that counts, checks, the feed and
-- exclusions stay right. They are carried out in small transactions, each erasure by one process at a time.

-- Asks for the erasure of an item. Of several calls the first makes it, and the others are answered the same one. The
-- item is not locked: a step locks the erasure before its item.
-- No row: there is no such item
create or replace function add_erasure(p_id text, p_kind text, p_item_id text, p_reason text, p_actor text)
returns setof erasure language plpgsql as $$
declare
  v_erased boolean := erased_of(p_kind, p_item_id);
begin
  if v_erased is null then return; end if;
  -- what was erased with another, or by an earlier release, has none of its own
  if not v_erased or not exists (select from erasure where kind = p_kind and item_id = p_item_id) then
    insert into erasure (id, kind, item_id, reason, actor) values (p_id, p_kind, p_item_id, p_reason, p_actor)
    on conflict (kind, item_id) where state = 'running' do update set kind = excluded.kind;
    -- one that was under way may have been done since
    if not v_erased and erased_of(p_kind, p_item_id) then
      delete from erasure n where n.id = p_id and exists (
        select from erasure o where o.kind = p_kind and o.item_id = p_item_id and o.id <> p_id);
    end if;
  end if;
  return query select * from erasure where kind = p_kind and item_id = p_item_id order by seq desc limit 1;
end $$;

-- Whether an item has been erased; null: there is none.
create or replace function erased_of(p_kind text, p_id text) returns boolean language sql volatile as $$
  select case p_kind when 'review' then (select erased from review where id = p_id)
                     when 'task' then (select erased from task where id = p_id)
                     else (select erased from item where kind = p_kind and id = p_id) end
$$;

-- One step of an erasure that is not done, any of them, so that one that fails holds up no other. Returns the items
-- that it ended or erased, after a row without one; no row: nothing is left to do, or other processes are at it.
create or replace function erasure_step() returns setof item language plpgsql as $$
declare
  e erasure;
begin
  select * into e from erasure where state = 'running' order by random() limit 1 for update skip locked;
  if not found then return; end if;
  return next null::item;
  if e.kind is null then
    return query select * from erase_person(e);
  else
    return query select * from erase_item(e);
  end if;
end $$;

-- Ends the item, then erases it: a task's occurrences a hundred at a time, the history some thousand lines at a time.
create or replace function erase_item(e erasure) returns setof item language plpgsql as $$
declare
  v_ids text[];
  v_items integer;
  v_events integer;
begin
  -- looks are asked for before or after
  perform pg_advisory_xact_lock(person_key('look', e.kind, e.item_id));
  if e.position is null then
    e.items := end_to_erase(e);
    e.position := '';
  end if;
  v_ids := case when e.kind <> 'task' then e.item_id || looks_of(e.kind, e.item_id) else array(
    select id from item where kind = 'task' and id > greatest(e.item_id || '/', e.position) and id < e.item_id || '0'
     order by id limit 100) end;
  return query select * from erase_items(e.kind, v_ids, e.actor, e.reason);
  get diagnostics v_items = row_count;
  v_events := erase_events(e.kind, v_ids, 5000);
  if v_events < 5000 then
    e.position := v_ids[cardinality(v_ids)];
    if e.kind <> 'task' or v_ids = '{}' then e.state := 'done'; end if;
  end if;
  update erasure set state = e.state, position = coalesce(e.position, position), items = e.items + v_items,
         events = e.events + v_events, finished_at = case when e.state = 'done' then clock_timestamp() end
   where id = e.id;
end $$;

-- Ends what is open, with all that are at it, and erases what has no row of an item. Returns how many it erased.
create or replace function end_to_erase(e erasure) returns integer language plpgsql as $$
begin
  if e.kind = 'review' then
    return erase_review(e);
  elsif e.kind = 'case' then
    perform close_cases(e.item_id || looks_of('case', e.item_id), 'erased', e.actor, null);
    -- gold
    update admin_log set body = null
     where body @> jsonb_build_object('cases', jsonb_build_array(jsonb_build_object('id', e.item_id)));
  elsif e.kind = 'task' then
    perform delete_task(e.item_id, 'erased', e.actor);
    perform cancel_occurrence(id, 'erased', e.actor) from item
      where kind = 'task' and id > e.item_id || '/' and id < e.item_id || '0' and ended_at is null;
    perform erase_items('rotation', array[e.item_id], e.actor, e.reason);
    perform erase_events('rotation', array[e.item_id], null);
    update task set params = '{}', callback = null, content_hash = '', erased = true
     where id = e.item_id and not erased;
    return case when found then 1 else 0 end;
  else
    perform end_items(e.kind, looks_of(e.kind, e.item_id), 'invalidated', e.actor, 'erased');
    perform end_items(e.kind, array[e.item_id], 'invalidated', e.actor, 'erased');
    -- a decision that came first may have drawn one
    perform end_items(e.kind, looks_of(e.kind, e.item_id), 'invalidated', e.actor, 'erased');
  end if;
  return 0;
end $$;

-- Erases items that have ended. What is left are ids, states, counts and times, and who did what when.
create or replace function erase_items(p_kind text, p_ids text[], p_actor text, p_reason text) returns setof item
language plpgsql as $$
begin
  perform from item where kind = p_kind and id = any (p_ids) order by id for update;
  perform erase_deliveries(p_kind, p_ids);
  delete from parked where kind = p_kind and item_id = any (p_ids);
  perform erase_traces(kind, id, look #>> '{of,id}') from item
    where kind = p_kind and id = any (p_ids) and look ? 'of' and not erased;
  if p_kind = 'ticket' then
    delete from draft where item_id = any (p_ids);
    delete from ticket_text where id = any (p_ids);
    perform erase_suggestions(p_ids);
  elsif p_kind = 'job' then
    delete from job_run where id = any (p_ids);
    delete from job_key where id = any (p_ids);
  elsif p_kind = 'case' then
    update case_file set parties = '[]', party_ids = '{}', party_persons = '{}' where id = any (p_ids);
    update vote set comment = null where case_id = any (p_ids) and comment is not null;
  elsif p_kind = 'task' then
    update lease set given = null, result_hash = null where kind = 'task' and item_id = any (p_ids);
  end if;
  return query update item i
     set body = 'null', content_hash = '', requires = '{}', base_requires = null, exclude = '{}', skipped = '{}',
         callback = null, subject = null, category = null, for_person = null, for_until = null, ruled = null,
         body_bytes = null, result_hash = null, look = without_look(i.look, null),
         result = case when i.result is not null then 'null'::json end,
         end_reason = case when i.end_reason is not null then 'erased' end,
         erased = true, delivery_pending = false, event_seq = i.event_seq + 1, last_event = 'erased',
         last_actor = p_actor, last_data = json_build_object('reason', p_reason)
   where i.kind = p_kind and i.id = any (p_ids) and i.ended_at is not null and not i.erased
  returning i.*;
end $$;

-- Erases a review with what has come for it. Its log keeps its lines, and gets one more.
create or replace function erase_review(e erasure) returns integer language plpgsql as $$
declare
  r review;
begin
  while (select a.more from apply_review(e.item_id, 500) a) loop null; end loop;
  select * into r from review where id = e.item_id and not erased for no key update;
  if not found then return 0; end if;
  perform erase_deliveries('review', array[r.id]);
  delete from review_body where review_id = r.id;
  delete from review_index where review_id = r.id and kind <> 'text';
  update review set body = null, callback = null, erased = true where id = r.id;
  r.record := record_of_index(r.id);
  r.log_seq := r.log_seq + 1;
  r.version := nextval('item_version');
  r.updated_at := clock_timestamp();
  insert into review_callback (review_id, kind, received_at, applied_at, outcome, seq, version, actor)
  values (r.id, 'edit', r.updated_at, r.updated_at, 'edited', r.log_seq, r.version, e.actor);
  -- an edit holds the whole review before and after it
  update review_callback
     set callback_id = null, target_id = case when kind <> 'edit' then '' end,
         before = case kind when 'edit' then r.record else before end,
         after = case kind when 'edit' then r.record else after end
   where review_id = r.id;
  perform keep_review(r);
  perform log_review(r.id, r.log_seq - 1);
  update event set type = 'erased', data = json_build_object('reason', e.reason)
   where kind = 'review' and item_id = r.id and seq = r.log_seq;
  return 1;
end $$;

-- Gives up what has not been delivered, and forgets all of the addresses but their hosts.
create or replace function erase_deliveries(p_kind text, p_ids text[]) returns void language sql as $$
  update delivery
     set state = case when state = 'pending' then 'failed' else state end, body = null,
         error = case when state = 'pending' then 'erased' end,
         url = substring(url from '^[A-Za-z]+://') || coalesce(host, '') || '/', updated_at = clock_timestamp()
   where kind = p_kind and item_id = any (p_ids)
$$;

-- Erases what the history of items says beside what happened when, and by whom. Returns how many lines it erased, of at
-- most p_limit.
create or replace function erase_events(p_kind text, p_ids text[], p_limit integer) returns integer language sql as $$
  with erased as (
    update event e set data = skeleton(e.data) where e.ctid = any (array(
      select ctid from event
       where kind = p_kind and item_id = any (p_ids) and type <> 'erased'
         and data::text is distinct from skeleton(data)::text limit p_limit))
    returning 1)
  select count(*)::integer from erased
$$;

-- What is left of an event's data: whom a task was dispatched to, which is the client's history, too.
create or replace function skeleton(p_data json) returns json language sql immutable
  return case when p_data ->> 'logId' is not null then json_strip_nulls(json_build_object(
           'logId', p_data ->> 'logId', 'person', p_data ->> 'person', 'uid', p_data ->> 'uid', 'reason',
           case when p_data ->> 'reason' in ('revoked', 'released', 'expired') then p_data ->> 'reason' end)) end;

-- Whether a review or an item has been erased.
create or replace function is_erased(p_kind text, p_id text) returns boolean language sql stable as $$
  select coalesce(case when p_kind = 'review' then (select erased from review where id = p_id)
                       else (select erased from item where kind = p_kind and id = p_id) end, false)
$$;
