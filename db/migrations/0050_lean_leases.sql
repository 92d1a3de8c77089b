-- Items with one holder at a time have no rows of `lease`: the token, the holder and the times are in the item's row, and
-- what was is in the log. `lease` is left to cases and tasks.
alter table event
  add column token bytea,
  add column ends integer;
comment on column event.token is 'hash of the lease token that this line grants, or of one that it refuses late; never shown';
comment on column event.ends is 'seq of the line that granted the lease that this line ends';

update event e set token = s.token, ends = s.ends
  from (
    with granted as materialized (
      select l.kind, l.item_id, g.seq, sha256(convert_to(l.token, 'UTF8')) as token, l.holder, l.ended_at, l.refused_at
        from lease l
        join event g on g.kind = l.kind and g.item_id = l.item_id and g.at = l.granted_at and g.type in ('claimed', 'reserved')
       where l.kind in ('ticket', 'job'))
    select kind, item_id, seq, token, null::integer as ends from granted
    union all
    select g.kind, g.item_id, x.seq, null, g.seq
      from granted g cross join lateral (
        select e.seq from event e
         where e.kind = g.kind and e.item_id = g.item_id and e.seq > g.seq
           and e.type in ('decided', 'finished', 'invalidated', 'deleted', 'expired', 'dead', 'buried', 'reclaimed',
                          'released', 'skipped', 'transferred')
         order by e.seq limit 1) x
     where g.ended_at is not null
    union all
    select g.kind, g.item_id, x.seq, g.token, null
      from granted g cross join lateral (
        select e.seq from event e
         where e.kind = g.kind and e.item_id = g.item_id and e.seq > g.seq
           and e.type = 'refused' and e.actor = g.holder and e.at >= g.refused_at
         order by e.seq limit 1) x
     where g.refused_at is not null) s
 where e.kind = s.kind and e.item_id = s.item_id and e.seq = s.seq;

-- the rows are written anew, so what is dropped leaves nothing behind
alter table item
  alter column settled_token type bytea using sha256(convert_to(settled_token, 'UTF8')),
  add column next_id text,
  drop column lease_follows,
  drop column lease_end;
comment on column item.settled_token is 'hash of the token that settled it';
comment on column item.next_wanted is 'its decision asked for the next item';
comment on column item.next_id is 'the next item that its decision got; null: none yet, or there was none';

alter table item disable trigger user;
update item d set next_id = l.item_id
  from lease l join lease s on s.token = l.follows
 where d.kind = s.kind and d.id = s.item_id and d.settled_token = sha256(convert_to(l.follows, 'UTF8'));
alter table item enable trigger user;

create temporary table others on commit drop as select * from lease where kind not in ('ticket', 'job');
truncate lease;
insert into lease select * from others;
drop index lease_granted;
alter table lease
  drop column follows,
  add constraint lease_of_capacity check (kind not in ('ticket', 'job'));

-- Claims of the last minute are counted by what the tally says of 'held', so these rows keep their time for so long.
alter table tally add column at timestamptz;
comment on column tally.at is 'of items handed out: when; null where it does not matter, or no longer';
drop index tally_queue;
create index tally_queue on tally (kind, queue, what) include (n, at);
