-- A user looks back to what they completed last, however long ago that was (S4.6).

-- It is kept apart from the dispatches, which retention clears, and is read once a pull.
create table look_back (
  person     text primary key collate "C",
  -- of the first dispatch that they completed: until then `lookbackSeconds` counted
  first_at   timestamptz not null,
  first_rank bigint not null,
  first_seen xid8,
  -- of the last one
  since_rank bigint not null,
  seen       xid8,
  excluded   text[] not null default '{}'
) with (fillfactor = 70);
comment on column look_back.since_rank is 'the start of what they completed last; what is earlier has been passed by';
comment on column look_back.seen is 'unless an older transaction than this had not been seen when they were given that';
comment on column look_back.excluded is 'or the call that was given it excluded that';

insert into look_back (person, first_at, first_rank, first_seen, since_rank, seen)
select d.slot, f.granted_at, f.rank, f.seen, i.rank, g.seen
  from (select distinct on (slot) slot, item_id from lease where kind = 'task' and why = 'settled'
         order by slot, ended_at desc) d
  join item i on i.kind = 'task' and i.id = d.item_id
 cross join lateral (
   select l.granted_at, l.seen, o.rank from lease l join item o on o.kind = 'task' and o.id = l.item_id
    where l.kind = 'task' and l.why = 'settled' and l.slot = d.slot order by l.ended_at limit 1) f
 cross join lateral (
   select seen from lease where kind = 'task' and item_id = d.item_id and slot = d.slot order by granted_at limit 1) g;
drop function if exists look_back(text);
-- was read by that only
drop index lease_completed;

alter table lease add column excluded text[];
comment on column lease.excluded is 'what the call that was given this dispatch excluded';

alter table member add column joined_by xid8;
comment on column member.joined_by is
  'the transaction since which they are a member: what they could have had before that they have not passed by';

alter table task add column max_lookback_seconds double precision;
alter table task add constraint task_max_lookback check (max_lookback_seconds >= 0);
-- how far back users go who have completed nothing yet
create index task_look_back on task (queue, lookback_seconds) where state = 'active';

-- Only `max_lookback_seconds` ends occurrences; before, each look-back did.
update item i
   set deadline_at = case when t.type = 'once' then t.end_time end,
       wake_at = case when i.state = 'delayed' then i.available_at
                      else least(case when t.type = 'once' and i.capacity > 0 then t.end_time end, (
                        select min(l.expires_at) from lease l
                         where l.kind = 'task' and l.item_id = i.id and l.ended_at is null)) end
  from task t
 where i.kind = 'task' and i.ended_at is null and t.id = split_part(i.id, '/', 1);

-- Finds what a call excluded among all occurrences of a task, of which thousands may be over.
create index item_stock_by_id on item (id) where kind = 'task' and state = 'ready' and capacity > 0;

-- Both give a column more.
drop function if exists executors_of(text);
drop function if exists first_task(text, text[], timestamptz);

-- Tasks keep the version of their template that they were made with (S4.1).
alter table task_template add column version integer not null default 1;
alter table task add column template_version integer not null default 1;
create table task_template_version (
  template_id text not null collate "C",
  version     integer not null,
  params      json not null,
  primary key (template_id, version)
);
comment on table task_template_version is 'earlier parameters of templates';

-- Gets the dispatch that it returns, and a comment.
drop function if exists return_dispatches(text[], text, boolean, text, timestamptz);
