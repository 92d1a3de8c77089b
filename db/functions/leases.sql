-- What the log says of leases of items with one holder at a time (leases of cases and tasks: the table `lease`).

create or replace function token_hash(p_token text) returns bytea language sql stable parallel safe as $$
  select sha256(convert_to(p_token, 'UTF8'))
$$;

-- Why a lease ended, by the line that ended it.
create or replace function lease_end(p_type text, p_actor text, p_holder text) returns text language sql immutable parallel safe as $$
  select case
    when p_type = 'reclaimed' or p_type in ('dead', 'buried') and p_actor = 'system' then 'expired'
    when p_type = 'transferred' then 'transferred'
    when p_type in ('released', 'skipped', 'dead', 'buried') then case when p_actor = p_holder then 'released' else 'revoked' end
    when p_type in ('decided', 'finished') and p_actor = p_holder then 'settled'
    else 'closed' end
$$;

-- The lease of a token: whose, when and why it ended. No row: the token is of no lease of this item.
create or replace function named_lease(p_kind text, p_id text, p_token text)
returns table (seq integer, holder text, ended_at timestamptz, why text) language sql stable as $$
  select g.seq, g.actor, e.at, case when e.seq is not null then lease_end(e.type, e.actor, g.actor) end
    from event g
    left join event e on e.kind = g.kind and e.item_id = g.item_id and e.ends = g.seq
   where g.kind = p_kind and g.item_id = p_id and g.token = token_hash(p_token) and g.type <> 'refused'
$$;

-- Notes a former holder's late attempt, the first with each lease (S0.7). One that had settled the item is no news.
create or replace function refuse_lease(p_kind text, p_id text, p_token text, p_attempt text) returns setof item
language plpgsql as $$
begin
  perform from item where kind = p_kind and id = p_id for update;
  if exists (select from event where kind = p_kind and item_id = p_id and type = 'refused' and token = token_hash(p_token)) then
    return;
  end if;
  return query update item i
     set event_seq = i.event_seq + 1, last_event = 'refused', last_actor = l.holder,
         last_data = json_build_object('attempt', p_attempt, 'reason', l.why), updated_at = clock_timestamp()
    from named_lease(p_kind, p_id, p_token) l
   where i.kind = p_kind and i.id = p_id and l.why <> 'settled'
  returning i.*;
  if not found then return; end if;
  update event e set token = token_hash(p_token) from item i
   where i.kind = p_kind and i.id = p_id and e.kind = p_kind and e.item_id = p_id and e.seq = i.event_seq;
end $$;
