-- Whether a draft is still its writer's: while the ticket is open, until a day after the writer's last lease, and not
-- beyond a transfer or the writer's skip.
create or replace function is_kept(d draft) returns boolean language sql stable as $$
  select exists (
    select from item i
     where i.kind = 'ticket' and i.id = d.item_id and i.ended_at is null and not d.person = any (i.skipped)
       and not exists (
         select from event e
          where e.kind = 'ticket' and e.item_id = d.item_id and e.type = 'transferred' and e.at > d.at)
       and (i.holder = d.person or exists (
         select from event g join event e on e.kind = g.kind and e.item_id = g.item_id and e.ends = g.seq
          where g.kind = 'ticket' and g.item_id = d.item_id and g.actor = d.person and g.token is not null
            and e.at > clock_timestamp() - interval '24 hours')))
$$;
