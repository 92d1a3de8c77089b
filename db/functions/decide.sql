-- Decisions of tickets, and the decider's next one (S0.6, S0.7, S0.8).

-- Decides tickets whose leases are live, before the deadline, whether or not a clock has come by.
-- p_subjects  those that reviewers' keys are bound to, or null
-- p_forms     the settings versions whose forms the decisions were checked against; a queue without a form needs none
-- p_seen      the versions that the deciders saw, or null
-- p_synced    the decisions also decide the others of their subjects (`sync_subjects`), which those of a queue that
--             syncs must
-- p_next      for each the ticket that its decider gets in the same transaction, or null: what every repetition of the
--             decision is answered
-- Returns the decided rows, then the looks that were drawn for them.
create or replace function settle_items(
  p_kind text, p_ids text[], p_tokens text[], p_results text[], p_hashes text[], p_subjects text[], p_forms bigint[],
  p_seen bigint[], p_synced boolean, p_next text[] default null
) returns setof item language plpgsql as $$
declare
  -- ids of the looks that may be drawn; null: no queue has any drawn
  v_looks text[] := case when exists (select from queue where second is not null or assist is not null)
                    then array(select new_id() from unnest(p_ids)) end;
  v_drawn text[];
begin
  return query update item i
     set state = 'settled', result = s.result::json, result_hash = decode(s.hash, 'hex'),
         settled_token = token_hash(s.token), next_id = s.next,
         delivery_pending = coalesce(i.callback, q.callback) is not null,
         look = case when s.look is not null and i.look is null
                          and draw_of((select key from draw_key), i.id) < look_share(q, i.holder)
                     then jsonb_build_object('looks', jsonb_build_array(look_entry(s.look, 'check'))) else i.look end,
         automation = case when q.assist is not null then automation_of(i) end,
         event_seq = i.event_seq + 1, last_event = end_event(i.kind, 'settled'), last_actor = i.holder,
         last_data = json_build_object('decision', s.result::json)
    from unnest(p_ids, p_tokens, p_results, p_hashes, p_subjects, p_forms, p_seen, p_next, v_looks)
           as s (id, token, result, hash, subject, form, seen, next, look),
         queue q
   -- said twice, as in `grant_items`
   where i.kind = p_kind and i.id = any (p_ids) and i.id = s.id and q.kind = i.kind and q.name = i.queue
     and may_settle(i, q, s.token, s.subject, s.result, s.form, s.seen, p_synced)
  returning i.*;
  if v_looks is null then return; end if;
  select array_agg(i.id), array_agg(s.look) into p_ids, v_drawn
    from unnest(p_ids, v_looks) as s (id, look)
    join item i on i.kind = p_kind and i.id = any (p_ids) and i.id = s.id and i.look #>> '{looks,0,id}' = s.look;
  if p_ids is not null then return query select * from add_looks(p_ids, v_drawn, 'check', 'system'); end if;
end $$;

create or replace function may_settle(
  i item, q queue, p_token text, p_subject text, p_result text, p_form bigint, p_seen bigint, p_synced boolean
) returns boolean language sql volatile as $$
  select is_live(i, p_token, p_subject)
     and case when i.look ? 'of' then fits_form_of_look(i.look, p_form)
              else q.form is null or q.settings_version = p_form end
     and fits_review(i.callback, p_result::json) and (p_seen >= i.content_version) is not false
     and (p_synced or q.sync is null or i.subject is null or i.look is not null)
$$;

-- The same, and hands each decider the next ticket of the queue by the commit that decides: there is no moment at which
-- one is decided and the other is not handed out, so that also "none" is final. The decided rows are locked first, in
-- the order of ids; that waits, and a moment for what is due. The next ticket takes the slot that the decided one
-- frees, so no person needs to be locked (`claim_items`).
-- p_next    the tokens of the new leases
-- p_skills  of all deciders
-- Returns the decided rows with their looks, and the handed out ones, with a token of p_next; before them, without a
-- body, what was due.
create or replace function settle_next(
  p_kind text, p_ids text[], p_tokens text[], p_results text[], p_hashes text[], p_subjects text[], p_forms bigint[],
  p_seen bigint[], p_next text[], p_skills text[]
) returns setof item language plpgsql as $$
declare
  q queue;
  v_queue text;
  v_ids text[] := array_fill(null::text, array[cardinality(p_ids)]);
  v_slots bigint[] := array_fill(null::bigint, array[cardinality(p_ids)]);
  v_numbers integer[];
  v_persons text[];
  v_held bigint[];
  v_chosen text[];
begin
  if exists (select from reviewer) then
    perform lock_registered(array(select holder from item where kind = p_kind and id = any (p_ids)));
  end if;
  for v_queue in
    select distinct queue from (
      select queue, state from item where kind = p_kind and id = any (p_ids) order by id for update) i
     where state = 'held'
  loop
    if is_due(p_kind, array[v_queue]) then return query select * from advance_due(p_kind, array[v_queue]); end if;
    -- with the settings as they are after the wait
    select * into q from queue where kind = p_kind and name = v_queue;
    continue when q.paused;
    -- who holds others up to the limit, which may have been lowered, gets none
    select array_agg(s.n order by s.n), array_agg(i.holder order by s.n), array_agg(i.slot order by s.n)
      into v_numbers, v_persons, v_held
      from unnest(p_ids, p_tokens, p_results, p_subjects, p_forms, p_seen)
             with ordinality as s (id, token, result, subject, form, seen, n)
      join item i on i.kind = p_kind and i.id = any (p_ids) and i.id = s.id and i.queue = v_queue
     where may_settle(i, q, s.token, s.subject, s.result, s.form, s.seen, false)
       and q.max_held > (
         select count(*) from item o
          where o.kind = p_kind and o.queue = v_queue and o.state = 'held' and o.holder = i.holder and o.id <> i.id
            and o.expires_at > clock_timestamp());
    continue when v_numbers is null;
    v_chosen := choose_items(q, v_persons, p_skills);
    if q.gold is not null then v_chosen := with_gold(q, v_persons, p_skills, v_chosen); end if;
    for n in 1 .. coalesce(cardinality(v_chosen), 0) loop
      v_ids[v_numbers[n]] := v_chosen[n];
      v_slots[v_numbers[n]] := v_held[n];
    end loop;
  end loop;
  return query select * from settle_items(
    p_kind, p_ids, p_tokens, p_results, p_hashes, p_subjects, p_forms, p_seen, false, v_ids);
  -- a lease may have run out in between
  select array_agg(s.next), array_agg(i.ended_by), array_agg(s.token), array_agg(s.slot)
    into v_ids, v_persons, p_tokens, v_slots
    from unnest(p_ids, p_next, v_slots, v_ids) as s (id, token, slot, next)
    join item i on i.kind = p_kind and i.id = any (p_ids) and i.id = s.id and i.next_id = s.next;
  return query select * from grant_items(p_kind, v_ids, v_persons, p_tokens, v_slots);
end $$;

-- The new ticket that a decision asks for as its next one, where the two are not one statement: of several queues, or
-- with others of its subject decided in between. In the transaction of the decision, so that its answer is final, too.
create or replace function claim_next(p_kind text, p_id text, p_token text, p_skills text[], p_queues text[])
returns setof item language plpgsql as $$
declare
  v_queues text[] := coalesce(nullif(p_queues, '{}'), (
    select array[queue] from item where kind = p_kind and id = p_id));
  v_person text := (select ended_by from item where kind = p_kind and id = p_id);
  v_rows item[] := array(select i from claim_from(p_kind, v_queues, v_person, array[p_token], p_skills, false) i);
  v_next text := (select id from unnest(v_rows) where body is not null);
begin
  update item set next_id = v_next where kind = p_kind and id = p_id and v_next is not null;
  return query select * from unnest(v_rows);
end $$;
