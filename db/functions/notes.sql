-- Adds a note to an item in any state. The item's workflow need not know of it, so the version stays. No row: the same
-- person has left the same text, so that a call whose answer was lost can be repeated; or the item has been erased.
create or replace function leave_note(p_kind text, p_id text, p_actor text, p_text text) returns setof item
language plpgsql as $$
begin
  perform from item where kind = p_kind and id = p_id and not erased for update;
  if not found then return; end if;
  if exists (select from event where kind = p_kind and item_id = p_id and type = 'noted' and actor = p_actor
                and data ->> 'text' = p_text) then return; end if;
  return query update item i
     set event_seq = i.event_seq + 1, last_event = 'noted', last_actor = p_actor,
         last_data = json_build_object('text', p_text)
   where i.kind = p_kind and i.id = p_id
  returning i.*;
end $$;
