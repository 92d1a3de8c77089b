-- The feed (S4.8): all events of all kinds by one position that has no gaps, which db/functions/feed.sql gives out.

-- who sent it, for its line in the feed
alter table review_callback add column actor text not null default 'anonymous';
-- they get an argument more; an older process's calls, without it, fit the new ones
drop function if exists receive_callbacks(text[], text[], text[], text[], integer[], timestamptz[], double precision);
drop function if exists put_review(text, jsonb, json, jsonb);

-- What reviews went through before there was a feed. The record of their first version is not known any more.
insert into event (kind, item_id, seq, type, actor, at)
select 'review', id, 0, 'created', 'anonymous', created_at from review;
insert into event (kind, item_id, seq, type, actor, at, data)
select 'review', review_id, seq, outcome, actor, applied_at,
       json_build_object('kind', kind, 'targetId', nullif(target_id, ''), 'status', status, 'auditTime', iso_time(audit_time),
                         'callbackId', callback_id, 'reason', reason, 'before', before, 'after', after)
  from review_callback where seq is not null;

-- Rows that are there get theirs by time, and every item's in its own order, even where a clock was set back.
alter table event add column id bigint;
update event e set id = n.id
  from (select kind, item_id, seq, row_number() over (order by reached, kind, item_id, seq) as id
          from (select kind, item_id, seq, max(at) over (partition by kind, item_id order by seq) as reached from event) r) n
 where e.kind = n.kind and e.item_id = n.item_id and e.seq = n.seq;
alter table event alter column id set not null;
alter table event alter column id add generated always as identity;
select setval(pg_get_serial_sequence('event', 'id'), coalesce(max(id), 1), max(id) is not null) from event;
comment on column event.id is 'drawn under the item''s lock by a transaction that has its number already; never cache more than one';
create unique index event_id on event (id);

create table feed (
  seq      bigint primary key,
  event_id bigint not null unique
) with (autovacuum_vacuum_insert_scale_factor = 0.2);

create table feed_state (
  one    boolean primary key default true check (one),
  -- the highest event id looked at; what is below is in the feed, in a hole, or never was committed
  upto   bigint not null,
  -- the last position given out
  newest bigint not null
);
insert into feed_state (upto, newest) values (0, 0);

-- Stretches of event ids that were passed while nothing could be seen there.
create table feed_hole (
  first   bigint primary key,
  last    bigint not null,
  -- of the pass that found it: whoever drew one of these ids began before
  seen_by xid8 not null,
  constraint feed_hole_is_a_stretch check (last >= first)
);
