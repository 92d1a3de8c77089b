-- Reconciliation after Temporal's store has lost data: marks all that needs a workflow in `unpublished`, and adds
-- resync rows for all that no relay publishes. Urgent items come first. Publishing again what was not lost costs a
-- signal and changes nothing, so a pass may be repeated, and any number of processes may take part.

-- One batch of the pass that is under way.
-- p_most  with as many marks as this, the stages `due` and `open` wait until others have been published
-- stage   what was walked; no row: no pass is under way, or another process is at it
-- put     rows put back; null: too many are waiting to be published
create or replace function put_back(p_limit integer, p_most integer) returns table (stage text, put integer)
language plpgsql as $$
#variable_conflict use_column
declare
  r reconciliation;
  v_stages text[] := array['schedules', 'deliveries', 'reviews', 'outcomes', 'due', 'open'];
  v_read integer;
begin
  select * into r from reconciliation c where c.stage is not null for update skip locked;
  if not found then return; end if;
  if r.stage in ('due', 'open') and (select count(*) from (select from unpublished limit p_most) u) >= p_most then
    return query select r.stage, null::integer;
    return;
  end if;
  with batch as materialized (
    select * from rows_to_put_back(r, p_limit) with ordinality as b (kind, id, n, mark, no)
  ), published as (
    insert into unpublished (kind, item_id) select kind, id from batch where mark = 'workflow' order by no
    on conflict do nothing
  ), resynced as (
    insert into resync (what, parent, name, n, at)
    select mark, kind, id, n, '-infinity' from batch where mark in ('schedule', 'delivery') order by no
  )
  select r.stage, count(mark), count(*), (array_agg(kind order by no desc))[1], (array_agg(id order by no desc))[1],
         (array_agg(n order by no desc))[1]
    into stage, put, v_read, r.after_kind, r.after_id, r.after_n from batch;
  if v_read < p_limit then
    r.stage := v_stages[array_position(v_stages, r.stage) + 1];
    r.after_kind := ''; r.after_id := ''; r.after_n := 0;
  end if;
  update reconciliation c
     set stage = r.stage, after_kind = coalesce(r.after_kind, ''), after_id = coalesce(r.after_id, ''),
         after_n = coalesce(r.after_n, 0), finished_at = case when r.stage is null then clock_timestamp() end;
  return next;
end $$;

-- The next rows of the stage, in the order of their keys.
-- mark  what is to be done: `workflow`, `schedule`, `delivery`; `outcome`: a later stage does it; null: nothing
create or replace function rows_to_put_back(r reconciliation, p_limit integer)
returns table (kind text, id text, n integer, mark text) language plpgsql as $$
#variable_conflict use_column
begin
  if r.stage = 'schedules' then
    return query
    select topic, name, 0, 'schedule' from schedule
     where (topic, name) > (r.after_kind, r.after_id) order by topic, name limit p_limit;
  elsif r.stage = 'deliveries' then
    -- those of reviews are made by the review's workflow, an outcome's first one by the item's, and those that were
    -- asked for again by a workflow of their own
    return query
    select d.kind, d.item_id, d.n,
           case when d.kind = 'review' then 'workflow'
                when exists (select from item i where i.kind = d.kind and i.id = d.item_id
                                and (d.n > 1 or not i.delivery_pending)) then 'delivery' else 'outcome' end
      from delivery d where d.state = 'pending' and (d.kind, d.item_id, d.n) > (r.after_kind, r.after_id, r.after_n)
     order by d.kind, d.item_id, d.n limit p_limit;
  elsif r.stage = 'reviews' then
    -- with callbacks that were received and not applied
    return query
    select distinct 'review', review_id, 0, 'workflow' from review_callback
     where outcome = 'pending' and review_id > r.after_id collate "C" order by review_id limit p_limit;
  elsif r.stage = 'outcomes' then
    return query
    select kind, id, 0, 'workflow' from item
     where delivery_pending and (kind, id) > (r.after_kind, r.after_id) order by kind, id limit p_limit;
  else
    -- open items: `due` those for which something is due at some time, then the others
    return query
    select kind, id, 0,
           case when ended_at is null and (wake_at is not null or coalesce(lacks_jurors, false)) = (r.stage = 'due')
                then 'workflow' end
      from item where (kind, id) > (r.after_kind, r.after_id) order by kind, id limit p_limit;
  end if;
end $$;
