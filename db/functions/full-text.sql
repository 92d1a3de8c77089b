-- Full text over the bodies of tickets, where DOCKET_FULL_TEXT is on: a statement that adds a ticket or changes a body
-- keeps its words in the same transaction (log_item_insert, log_item_update); those that were there before are gone
-- through once.

create or replace function keep_words(p_ids text[], p_bodies json[]) returns void language sql as $$
  insert into ticket_text as t (id, words)
  select id, to_tsvector('simple', body) from unnest(p_ids, p_bodies) s (id, body) where id is not null
  on conflict (id) do update set words = excluded.words
$$;

-- A step of keeping words, or of forgetting them all, by the setting. Returns whether there is more to do.
create or replace function tend_words(p_on boolean, p_limit integer) returns boolean language plpgsql as $$
declare
  f full_text;
  v_ids text[];
  v_bodies json[];
begin
  if not p_on then
    if exists (select from full_text) then delete from full_text; truncate ticket_text; end if;
    return false;
  end if;
  if not exists (select from full_text) then
    insert into full_text default values on conflict do nothing;
    return true;
  end if;
  select * into f from full_text where not ready and since < pg_snapshot_xmin(pg_current_snapshot())
     for update skip locked;
  if not found then return false; end if;
  -- as they are now: one that is being erased is waited for
  select array_agg(id), array_agg(body) into v_ids, v_bodies from (
    select id, body from item where kind = 'ticket' and id > f.filled_to order by id limit p_limit for share) i;
  perform keep_words(v_ids, v_bodies);
  update full_text set filled_to = coalesce(v_ids[array_upper(v_ids, 1)], filled_to),
                       ready = coalesce(cardinality(v_ids), 0) < p_limit;
  return true;
end $$;
