-- Drafts of decisions (S0.7): kept beside the ticket, so that writing one is no event and no version.

-- name: put_draft
insert into draft (item_id, person, draft, at)
select i.id, i.holder, :draft::text::json, clock_timestamp() from item i
 where i.kind = 'ticket' and i.id = :id and is_live(i, :token, :subject?)
on conflict (item_id, person) do update set draft = excluded.draft, at = excluded.at
returning item_id as id;

-- name: drafts_of
select item_id as id, draft, at from draft d where item_id = any (:ids::text[]) and person = :person and is_kept(d);

-- name: forget_drafts
-- Those that nobody sees any more; what is younger is most likely still wanted, and is not looked at.
delete from draft where ctid = any (array(
  select d.ctid from draft d where d.at < clock_timestamp() - interval '1 hour' and not is_kept(d) limit 1000));
