-- What holds for every item, whoever writes it: the name of the first invariant that this one breaks, or null. The
-- triggers of `item` ask. CHECK constraints would be read, planned and set up anew by each statement that writes a row,
-- which for thirteen of them was a seventh of a decision with its next ticket (docs/decisions/0033).
create or replace function broken_invariant(i item) returns text language sql immutable parallel safe as $$
  select case
    when i.state not in ('delayed', 'ready', 'held', 'buried', 'settled', 'invalidated', 'expired', 'dead')
      then 'known state'
    when (i.state = 'held') <> (i.lease_id is not null) or (i.lease_id is null) <> (i.holder is null)
         or (i.lease_id is null) <> (i.granted_at is null) or (i.lease_id is null) <> (i.expires_at is null)
      then 'held has lease'
    when (i.state = 'held' and i.kind = 'ticket') <> (i.slot is not null) then 'held has slot'
    when i.state in ('delayed', 'held') and i.wake_at is null then 'due has wake'
    when (i.state = 'buried') <> (i.buried_seq is not null) then 'buried in order'
    when (i.state in ('settled', 'invalidated', 'expired', 'dead')) <> (i.ended_at is not null)
         or (i.ended_at is null) <> (i.ended_by is null)
      then 'final has end'
    when (i.state = 'settled') <> (i.result is not null) then 'settled has result'
    when i.ended_at is not null and i.wake_at is not null then 'final sleeps'
    when i.ended_at is not null and i.lacks_jurors then 'final lacks no jurors'
    when i.ended_at is null and i.delivery_pending then 'open has no delivery'
    when i.for_until is not null and i.for_person is null then 'for whom'
    when i.kind = 'task' and i.capacity < 0 then 'task has stock'
    when i.lease_seconds <= 0 then 'lease lasts'
  end
$$;

-- @throws check_violation
create or replace function refuse_broken(i item) returns void language plpgsql as $$
begin
  raise exception '% % breaks the invariant "%"', i.kind, i.id, broken_invariant(i) using errcode = 'check_violation';
end $$;
