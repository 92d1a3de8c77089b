-- A statement that changes an item says its decision (the state and what belongs to it) and its line: `event_seq`
-- grows, with last_event, last_actor and last_data. All that follows from these is derived here, and a transition that
-- the lifecycle of its kind (domain/kinds.ts) does not have is refused, whoever writes it. A value that the statement
-- gives itself stands.
create or replace function derive_item() returns trigger language plpgsql as $$
declare
  v_ends boolean;
begin
  if new.last_event in ('skipped', 'transferred') and is_gold(new.look) and old.ended_at is null
     and new.event_seq > old.event_seq then
    -- its holder is answered as if it waited for others
    new.state := 'invalidated'; new.look := new.look || '{"passed": true}'; new.end_reason := 'passed';
  end if;
  v_ends := new.state in ('settled', 'invalidated', 'expired', 'dead');
  if new.requires <> old.requires then new.requires_key := requires_key(new.requires); end if;
  if new.state <> 'held' then
    new.lease_id := null; new.holder := null; new.slot := null; new.granted_at := null; new.expires_at := null;
  end if;
  if new.state = 'buried' then
    -- it waits for an operator, however long
    new.deadline_at := null; new.buried_seq := coalesce(new.buried_seq, nextval('item_buried'));
  else
    new.buried_seq := null;
  end if;
  if v_ends then
    new.capacity := null; new.lacks_jurors := false; new.wake_at := null;
  elsif clock_of(new.kind) = 'advance_items' and new.wake_at is not distinct from old.wake_at then
    new.wake_at := item_wake(new.state, new.available_at, new.expires_at, new.deadline_at,
                             least(new.escalates_at, nullif(new.overdue_at, 'infinity'),
                                   case when new.state = 'ready' then new.for_until end));
  end if;

  if new.event_seq = old.event_seq and new.state = old.state then
    if new.last_event is null then
      -- the statement has a line for others of its rows only
      new.last_event := old.last_event; new.last_actor := old.last_actor; new.last_data := old.last_data;
    end if;
    if broken_invariant(new) is not null then perform refuse_broken(new); end if;
    return new;
  end if;
  if new.event_seq = old.event_seq or not is_transition(new.kind, old.state, new.last_event, new.state) then
    raise exception 'a % that was % cannot be % by %', new.kind, old.state, new.state,
      case when new.event_seq > old.event_seq then new.last_event else 'nothing' end using errcode = 'DK001';
  end if;
  if new.updated_at = old.updated_at then
    -- its lock may have been waited for, so that the line before has been written since the statement began
    new.updated_at := greatest(old.updated_at, coalesce(
      case when new.granted_at is distinct from old.granted_at then new.granted_at end, clock_timestamp()));
  end if;
  if not v_ends then
    new.ended_at := null; new.ended_by := null;
  elsif old.ended_at is null then
    new.ended_at := coalesce(new.ended_at, new.updated_at); new.ended_by := new.last_actor;
    update wait set wake_at = clock_timestamp() where kind = new.kind and item_id = new.id and run = new.run;
    -- only where a workflow waits: each commit that notifies takes a lock of the whole server
    if found then perform pg_notify('docket', '{"node": "", "waits": true}'); end if;
    if new.look ? 'of' then
      -- an overturn goes where the first decision went; all else is told by the ticket that it is about
      new.delivery_pending := end_look(new) = 'overturned' and new.callback is not null;
    elsif is_gold(new.look) then
      new.delivery_pending := false;
      perform end_copy(new, old.holder);
    end if;
  end if;
  -- a version is what its workflow must receive
  if new.version = old.version and (new.ended_at is null and new.last_event not in ('noted', 'refused', 'parked')
       or new.ended_at is distinct from old.ended_at or new.wake_at is distinct from old.wake_at
       or new.lacks_jurors <> old.lacks_jurors) then
    new.version := nextval('item_version');
  end if;
  if broken_invariant(new) is not null then perform refuse_broken(new); end if;
  return new;
end $$;
