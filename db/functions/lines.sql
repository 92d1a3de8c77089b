-- The history of items to which one statement does several things. An item's row is written once, with its last line;
-- the trigger (db/functions/log.sql) sees no other.

-- Writes all lines but the last of each item. Call it before the row is changed; the row's event_seq must grow by `n`
-- of last_lines.
create or replace function earlier_lines(p_kind text, p_lines item_line[], p_type text, p_now timestamptz) returns void
language plpgsql as $$
begin
  if cardinality(p_lines) = 1 then return; end if;
  insert into event (kind, item_id, no, seq, type, actor, at, data)
  select p_kind, l.id, i.seq, i.event_seq + l.nth, p_type, l.actor, p_now, l.data from (
      select *, row_number() over (partition by id order by no) as nth, count(*) over (partition by id) as n
        from unnest(p_lines) with ordinality as s (id, actor, data, done, no)) l
   cross join lateral (select seq, event_seq from item where kind = p_kind and id = l.id offset 0) i
   where l.nth < l.n order by l.no;
end $$;

-- The last line of each item, and how many it has.
create or replace function last_lines(p_lines item_line[])
returns table (id text, actor text, data json, done text, n integer)
language sql immutable rows 10 as $$
  select distinct on (l.id) l.id, l.actor, l.data, l.done, count(*) over (partition by l.id)::integer
    from unnest(p_lines) with ordinality as l (id, actor, data, done, no) order by l.id, l.no desc
$$;

-- An item's row as it was after one of these lines, for those who list what happened to it.
create or replace function at_line(i item, p_seq bigint, p_actor text) returns item language plpgsql immutable as $$
begin
  i.event_seq := p_seq;
  i.last_actor := p_actor;
  return i;
end $$;
