-- Secrets of callbacks as they are stored (runtime/secrets.ts), with what they belong to; those of items and reviews,
-- which need a full scan, only with p_all.
create or replace function stored_secrets(p_all boolean) returns table (what text, secret text)
language sql stable as $$
  select case kind when 'ticket' then 'queues' when 'job' then 'topics' else 'courts' end, callback ->> 'secret'
    from queue
  union all
  select 'pushes', push ->> 'secret' from queue
  union all
  select 'courts'' invitations', invitation_callback ->> 'secret' from court
  union all
  select 'tasks', callback ->> 'secret' from task
  union all
  select 'reviews', callback ->> 'secret' from review where p_all
  union all
  select 'items', callback ->> 'secret' from item where p_all and callback is not null
$$;

-- A callback with the secret of p_new in the place of that of p_old.
create or replace function resealed(p_callback jsonb, p_old text[], p_new text[]) returns jsonb
language sql immutable
  return coalesce(
    jsonb_set(p_callback, '{secret}', to_jsonb(p_new[array_position(p_old, p_callback ->> 'secret')])), p_callback);
