-- Erasures of persons (docs/guides/erasure.md): what stands for them replaces their name wherever it stands. What the
-- name excluded from goes on excluding it, by a keyed hash, until those items have ended.

create or replace function name_hash(p_name text) returns bytea language sql stable as $$
  select sha256(key || convert_to(p_name, 'UTF8')) from erasure_key
$$;

-- A name with the others of its person (the register of reviewers), and what stands for them where they were erased.
create or replace function known_as(p_name text) returns text[] language plpgsql stable as $$
declare
  v_one text := (select coalesce(person, name) from reviewer where name = p_name);
  v_names text[] := array[p_name];
begin
  if v_one is not null then
    v_names := v_names || array(
      select name from reviewer where coalesce(person, name) = v_one and name <> p_name);
  end if;
  -- as good as always, and at each claim
  if not exists (select from erased_name) then return v_names; end if;
  return v_names || array(
    select e.stands_for from unnest(v_names) as n join erased_name e on e.hash = name_hash(n)
    union select stands_for from erased_name where person_hash = name_hash(v_one));
end $$;

-- The columns in which a person's name may stand; as a queue or an executor only as that of a user's tasks (`uid_…`).
create or replace function erased_columns() returns table (place integer, relation text, columns text[])
language sql immutable as $$
  values (1, 'item', '{queue, exclude, skipped, for_person, holder, ended_by, last_actor, last_data, subject,
                       look}'::text[]),
         (2, 'case_file', '{parties, party_ids, party_persons}'), (3, 'vote', '{juror, person}'),
         (4, 'lease', '{queue, holder, slot, ended_by}'), (5, 'event', '{actor, data}'),
         (6, 'review_callback', '{actor}'), (7, 'task', '{executor, queue}'), (8, 'delivery', '{queue, body}'),
         (9, 'notice', '{queue, person, data}'), (10, 'job_run', '{record}'),
         (11, 'admin_log', '{actor, path, body}'), (12, 'erasure', '{actor}'), (13, 'gold_copy', '{person}'),
         (14, 'suggestion', '{shown_to}'), (15, 'saved', '{owner, value}'),
         (16, 'gold', '{subject}')
$$;

-- A step of a person's erasure: what they hold ends and what is theirs alone goes; then each table is gone through,
-- some blocks at a time. A pass that has found the name is followed by another, because rows move, and transactions
-- that were under way may have written it.
create or replace function erase_person(e erasure) returns setof item language plpgsql as $$
declare
  c record;
  v_changed integer := 0;
  v_size bigint;
begin
  select * into c from erased_columns() where place = e.place;
  -- what they are handed meanwhile ends, too, whether it has been renamed or will be
  if e.place = 0 or c.relation in ('item', 'lease') then
    return query select * from end_held_by(e.person, e.actor);
  end if;
  if coalesce(c.relation, 'item') in ('item', 'lease') then
    return query select * from end_held_by(e.stands_for, e.actor);
  end if;
  if e.place = 0 then
    -- other names of the person stay excluded
    insert into erased_name (stands_for, hash, person_hash)
    values (e.stands_for, name_hash(e.person), (
      select name_hash(coalesce(nullif(person, e.person), e.stands_for)) from reviewer where name = e.person))
    on conflict do nothing;
    update reviewer set person = e.stands_for where person = e.person;
    perform remove_person(e.person);
    update erasure set place = 1, block = 0, passes = passes + 1, again = false where id = e.id;
    return;
  end if;
  if c.relation is not null then
    v_size := pg_relation_size(c.relation::regclass) / current_setting('block_size')::bigint;
    v_changed := replace_name(e.person, e.stands_for, c.relation, c.columns, e.block, e.block + 256,
                              case when e.passes > 3 then '' else 'skip locked' end);
    update erasure
       set place = place + (e.block + 256 > v_size)::integer,
           block = case when e.block + 256 > v_size then 0 else e.block + 256 end,
           again = again or v_changed is not null,
           items = items + case when c.relation = 'item' then coalesce(v_changed, 0) else 0 end,
           events = events + case when c.relation = 'event' then coalesce(v_changed, 0) else 0 end
     where id = e.id;
    return;
  end if;
  perform rename_user_queue('uid_' || e.person, 'uid_' || e.stands_for);
  -- whoever goes on calling by the name writes it anew, which is no more of this erasure
  update erasure set place = 0, state = case when again and passes < 9 then 'running' else 'done' end,
                     person = case when again and passes < 9 then person end,
                     finished_at = case when not again or passes >= 9 then clock_timestamp() end
   where id = e.id;
end $$;

-- Ends what a person holds, invitations included.
create or replace function end_held_by(p_person text, p_actor text) returns setof item language plpgsql as $$
declare
  v_kind text;
  v_ids text[];
  l lease;
begin
  foreach v_kind in array array['ticket', 'job'] loop
    v_ids := array(select id from item where kind = v_kind and state = 'held' and holder = p_person);
    continue when v_ids = '{}';
    return query select * from give_back(v_kind, v_ids, array_fill(null::text, array[cardinality(v_ids)]),
                                         p_actor => p_actor, p_reason => 'erased');
  end loop;
  for l in select * from lease where ended_at is null and p_person in (holder, slot) loop
    perform from item where kind = l.kind and id = l.item_id for update;
    if l.kind = 'case' then
      perform revoke_hold(l, 'erased', 'erasure', clock_timestamp());
    else
      perform return_dispatches(array[l.item_id], 'revoked', false, p_actor, clock_timestamp(), l.token, 'erased');
    end if;
    return query select * from item where kind = l.kind and id = l.item_id;
  end loop;
end $$;

-- Removes what is of this person alone: keys, places in lists and groups, records, drafts, views that are not shared.
create or replace function remove_person(p_person text) returns void language plpgsql as $$
begin
  delete from stream_ticket where subject = p_person;
  -- a name that only says the role is nobody's
  delete from api_key where p_person = subject or p_person = name and name <> role;
  delete from draft where person = p_person;
  delete from saved where owner = p_person and not shared;
  delete from look_record where decider = p_person;
  delete from reviewer where name = p_person;
  update admin_log set body = null where path = '/v1/reviewers/' || p_person and body is not null;
  delete from reviewer_day where name = p_person;
  delete from juror where p_person in (id, person);
  delete from juror_record where person = p_person;
  delete from juror_day where person = p_person;
  delete from exposure where person = p_person;
  delete from freed_juror where person = p_person;
  delete from member where person = p_person;
  delete from look_back where person = p_person;
  delete from taken_task where person = p_person;
end $$;

-- Replaces a name in some blocks of a table. Returns how many rows it changed; null: the name is not there.
-- p_locked  what becomes of rows that others have locked: they are left for a later pass, or waited for
create or replace function replace_name(
  p_name text, p_to text, p_relation text, p_columns text[], p_from bigint, p_until bigint, p_locked text
) returns integer language plpgsql as $$
declare
  c record;
  v_range text := format('ctid >= %L::tid and ctid < %L::tid', format('(%s,0)', p_from), format('(%s,0)', p_until));
  v_sets text;
  v_where text;
  v_found boolean;
  v_changed integer;
begin
  select string_agg(format('%I = %s', name, replaced), ', '), string_agg(has, ' or ') into v_sets, v_where
    from unnest(p_columns) as name
    join pg_attribute a on a.attrelid = p_relation::regclass and a.attname = name
   cross join lateral name_in_column(name, format_type(a.atttypid, null), p_name, p_to);
  execute format('select exists (select from %s where %s and (%s))', p_relation, v_range, v_where) into v_found;
  if not v_found then return null; end if;
  if p_relation in ('item', 'case_file', 'vote') then
    execute format('insert into erased_exclusion select distinct %L, %s from %s where %s and (%s)%s '
                   'on conflict do nothing', p_to,
                   case p_relation when 'item' then 'kind, id' when 'vote' then '''case'', case_id'
                                   else '''case'', id' end, p_relation, v_range, v_where,
                   case when p_relation = 'item' then
                     -- who decided is excluded from each look that may follow
                     format(' and (ended_at is null and %1$L = any (exclude || skipped) '
                            'or kind = ''ticket'' and state = ''settled'' and ended_by = %1$L)', p_name) end);
  end if;
  execute format('with hit as materialized (select ctid as at from %1$s where %2$s and (%3$s) for update %5$s), '
                 'done as (update %1$s set %4$s from hit where ctid = hit.at returning 1) select count(*) from done',
                 p_relation, v_range, v_where, v_sets, p_locked) into v_changed;
  return v_changed;
end $$;

-- How a column of a type is replaced, and whether it has the name, as SQL.
create or replace function name_in_column(
  p_column text, p_type text, p_name text, p_to text, out replaced text, out has text
) language plpgsql stable as $$
declare
  v_name text := case when p_column in ('queue', 'executor') then 'uid_' || p_name else p_name end;
  v_to text := case when p_column in ('queue', 'executor') then 'uid_' || p_to else p_to end;
begin
  if p_type = 'text[]' then
    replaced := format('array_replace(%I, %L, %L)', p_column, v_name, v_to);
    has := format('%L = any (%I)', v_name, p_column);
  elsif p_column = 'path' then
    replaced := format('left(replace(path || ''/'', %L, %L), -1)', '/' || p_name || '/', '/' || p_to || '/');
    has := format('strpos(path || ''/'', %L) > 0', '/' || p_name || '/');
  elsif p_type = 'text' then
    replaced := format('case when %1$I = %2$L then %3$L else %1$I end', p_column, v_name, v_to);
    has := format('%I = %L', p_column, v_name);
  else
    replaced := format('replace(replace(%I::text, %L, %L), %L, %L)::%s', p_column, to_json(p_name), to_json(p_to),
                       to_json('uid_' || p_name), to_json('uid_' || p_to), p_type);
    has := format('strpos(%1$I::text, %2$L) > 0 or strpos(%1$I::text, %3$L) > 0', p_column, to_json(p_name),
                  to_json('uid_' || p_name));
  end if;
end $$;

-- The queue of a user's tasks is counted under what stands for them. Meanwhile nothing is added up or
-- sampled (compact_tally, sample_queues).
create or replace function rename_user_queue(p_from text, p_to text) returns void language plpgsql as $$
declare
  v_kinds text[] := '{task,rotation,counted/task,counted/rotation}';
begin
  perform pg_advisory_xact_lock(7236001);
  perform pg_advisory_xact_lock(7236004);
  update tally_line set queue = p_to where kind = any (v_kinds) and queue = p_from;
  insert into tally_sum as t select kind, p_to, what, n from tally_sum where kind = any (v_kinds) and queue = p_from
  on conflict (kind, queue, what) do update set n = t.n + excluded.n;
  delete from tally_sum where kind = any (v_kinds) and queue = p_from;
  insert into sample_due (kind, queue) select kind, p_to from sample_due where kind = any (v_kinds) and queue = p_from
  on conflict do nothing;
  delete from sample_due where kind = any (v_kinds) and queue = p_from;
  update sample s set queue = p_to where kind = any (v_kinds) and queue = p_from
     and not exists (select from sample t where t.kind = s.kind and t.queue = p_to);
  -- sampled under both names since an earlier pass: the newest are added up, as those of all queues together count both
  insert into sample
  select r.*
    from (select kind, jsonb_object_agg(key, n) as counts
            from (select l.kind, e.key, sum(e.value::bigint) as n
                    from (select distinct on (kind, queue)
                                 kind, to_jsonb(s) - '{kind,queue,at,oldest}'::text[] as counts
                            from sample s where kind = any (v_kinds) and queue in (p_from, p_to)
                           order by kind, queue, at desc) l
                   cross join jsonb_each_text(l.counts) e group by l.kind, e.key) each group by kind) both_names
   cross join jsonb_populate_record(null::sample, counts || jsonb_build_object(
                                                    'kind', kind, 'queue', p_to, 'at', clock_timestamp())) r
   where exists (select from sample s where s.kind = both_names.kind and s.queue = p_from);
  delete from sample where kind = any (v_kinds) and queue = p_from;
  update queue q set name = p_to where kind = any (v_kinds) and name = p_from
     and not exists (select from queue t where t.kind = q.kind and t.name = p_to);
  delete from queue where kind = any (v_kinds) and name = p_from;
end $$;

-- Forgets the hashes of names that exclude from nothing any more.
create or replace function forget_names() returns void language sql as $$
  delete from erased_exclusion x
   where not exists (
     select from item i where i.kind = x.kind and i.id = x.item_id
        and (i.ended_at is null
             or i.state = 'settled' and (i.ended_by = x.stands_for or i.kind = 'case') and not i.erased));
  delete from erased_name n
   where not exists (select from erased_exclusion x where x.stands_for = n.stands_for)
     and not exists (select from erasure e where e.stands_for = n.stands_for and e.state = 'running');
$$;
