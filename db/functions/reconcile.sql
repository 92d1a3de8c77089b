-- Reconciliation after Temporal's store has lost data: marks all that needs a workflow in `unpublished`, and adds
-- resync rows for all that no relay publishes. Urgent items come first. Publishing again what was not lost costs a
-- signal and changes nothing, so a pass may be repeated, and any number of processes may take part.

-- One batch of the pass that is under way.
-- p_most  with as many marks as this, the stages `due` and `open` wait until others have been published
-- stage   what was walked; no row: no pass is under way, or another process is at it
-- put     rows put back; null: too many are waiting to be published
create or replace function put_back(p_limit integer, p_most integer) returns table (stage text, put integer)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  r reconciliation;
  v_stages text[] := array['schedules', 'deliveries', 'reviews', 'outcomes', 'due', 'open'];
  v_put integer;
  v_read integer;
begin
  select * into r from reconciliation c where c.stage is not null for update skip locked;
  if not found then return; end if;
  if r.stage in ('due', 'open') and (select count(*) from (select from unpublished limit p_most) u) >= p_most then
    return query select r.stage, null::integer;
    return;
  end if;
  case r.stage
    when 'schedules' then
      select * into v_put, v_read, r.after_kind, r.after_id from put_back_schedules(r, p_limit);
    when 'deliveries' then
      select * into v_put, v_read, r.after_kind, r.after_id, r.after_n from put_back_deliveries(r, p_limit);
    when 'reviews' then
      select * into v_put, v_read, r.after_id from put_back_reviews(r, p_limit);
    when 'outcomes' then
      select * into v_put, v_read, r.after_kind, r.after_id from put_back_outcomes(r, p_limit);
    else
      select * into v_put, v_read, r.after_kind, r.after_id from put_back_open(r, p_limit);
  end case;
  stage := r.stage;
  put := v_put;
  if v_read < p_limit then
    r.stage := v_stages[array_position(v_stages, r.stage) + 1];
    r.after_kind := ''; r.after_id := ''; r.after_n := 0;
  end if;
  update reconciliation c
     set stage = r.stage, after_kind = coalesce(r.after_kind, ''), after_id = coalesce(r.after_id, ''),
         after_n = coalesce(r.after_n, 0), finished_at = case when r.stage is null then clock_timestamp() end;
  return next;
end $$;

create or replace function put_back_schedules(
  r reconciliation, p_limit integer, out put integer, out read integer, out after_kind text, out after_id text
) language sql as $$
  with found as materialized (
    select topic, name from schedule where (topic, name) > (r.after_kind, r.after_id) order by topic, name limit p_limit
  ), kept as (
    insert into resync (what, parent, name, at) select 'schedule', topic, name, '-infinity' from found
  ), last as (select topic, name from found order by topic desc, name desc limit 1)
  select count(*)::integer, count(*)::integer, (select topic from last), (select name from last) from found
$$;

-- Deliveries in progress: those of reviews are made by the review's workflow, an outcome's first one by the item's, and
-- those that were asked for again by a workflow of their own.
create or replace function put_back_deliveries(
  r reconciliation, p_limit integer, out put integer, out read integer, out after_kind text, out after_id text,
  out after_n integer
) language sql as $$
  with found as materialized (
    select kind, item_id, n from delivery
     where state = 'pending' and (kind, item_id, n) > (r.after_kind, r.after_id, r.after_n)
     order by kind, item_id, n limit p_limit
  ), reviews as (
    insert into unpublished (kind, item_id)
    select distinct 'review', v.id from found f join review v on v.id = f.item_id where f.kind = 'review'
    on conflict do nothing
  ), again as (
    insert into resync (what, parent, name, n, at)
    select 'delivery', i.kind, i.id, f.n, '-infinity'
      from found f join item i on i.kind = f.kind and i.id = f.item_id and (f.n > 1 or not i.delivery_pending)
  ), last as (select kind, item_id, n from found order by kind desc, item_id desc, n desc limit 1)
  select count(*)::integer, count(*)::integer, (select kind from last), (select item_id from last), (select n from last)
    from found
$$;

-- Reviews with callbacks that were received and not applied.
create or replace function put_back_reviews(
  r reconciliation, p_limit integer, out put integer, out read integer, out after_id text
) language sql as $$
  with found as materialized (
    select distinct review_id from review_callback
     where outcome = 'pending' and review_id > r.after_id collate "C" order by review_id limit p_limit
  ), kept as (
    insert into unpublished (kind, item_id) select 'review', review_id from found on conflict do nothing
  )
  select count(*)::integer, count(*)::integer, max(review_id) from found
$$;

create or replace function put_back_outcomes(
  r reconciliation, p_limit integer, out put integer, out read integer, out after_kind text, out after_id text
) language sql as $$
  with found as materialized (
    select kind, id from item
     where delivery_pending and (kind, id) > (r.after_kind, r.after_id) order by kind, id limit p_limit
  ), kept as (
    insert into unpublished (kind, item_id) select kind, id from found on conflict do nothing
  ), last as (select kind, id from found order by kind desc, id desc limit 1)
  select count(*)::integer, count(*)::integer, (select kind from last), (select id from last) from found
$$;

-- Open items: in the stage `due` those for which something is due at some time, then the others.
create or replace function put_back_open(
  r reconciliation, p_limit integer, out put integer, out read integer, out after_kind text, out after_id text
) language sql as $$
  with found as materialized (
    select kind, id,
           ended_at is null and (wake_at is not null or coalesce(lacks_jurors, false)) = (r.stage = 'due') as wanted
      from item where (kind, id) > (r.after_kind, r.after_id) order by kind, id limit p_limit
  ), kept as (
    insert into unpublished (kind, item_id) select kind, id from found where wanted on conflict do nothing
  ), last as (select kind, id from found order by kind desc, id desc limit 1)
  select count(*) filter (where wanted)::integer, count(*)::integer, (select kind from last), (select id from last)
    from found
$$;
