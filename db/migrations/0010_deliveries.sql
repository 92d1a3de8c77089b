-- Deliveries as a list over all items: what they are filtered by, and when the next attempt is due.

-- The host of a URL as receivers are told apart: in lower case, with its port unless that is the protocol's own.
create function url_host(url text) returns text language sql immutable strict parallel safe
  return regexp_replace(lower(substring(url from '^[A-Za-z]+://([^/?#\\]*)')),
                        case when url ilike 'https:%' then ':443$' else ':80$' end, '');

alter table delivery
  add column seq bigint generated always as identity,
  -- of its item; '' for reviews, which have none
  add column queue text collate "C" not null default '',
  add column host text collate "C" generated always as (url_host(url)) stored,
  -- of a pending one: not before then
  add column next_attempt_at timestamptz default clock_timestamp(),
  -- those of before it was sent again by hand, from which its delays do not grow
  add column attempts_before integer not null default 0;
update delivery d set queue = i.queue from item i where i.kind = d.kind and i.id = d.item_id;

-- Lists, newest first. Each is read once per kind and state that is asked for, so these serve every filter.
create index delivery_state on delivery (state, kind, seq);
create index delivery_queue on delivery (queue, kind, state, seq);
create index delivery_host on delivery (host, state, kind, seq);

-- Counts by kind and state, and of attempts by outcome; the body is in db/functions/deliveries.sql.
insert into tally (kind, queue, what, n) select 'delivery', kind, state, count(*) from delivery group by kind, state;
create or replace function log_delivery() returns trigger language plpgsql as 'begin return null; end';
create trigger delivery_inserted after insert on delivery
  referencing new table as new_delivery for each statement execute function log_delivery();
create trigger delivery_updated after update on delivery
  referencing old table as old_delivery new table as new_delivery for each statement execute function log_delivery();
create trigger delivery_deleted after delete on delivery
  referencing old table as old_delivery for each statement execute function log_delivery();
