-- Docket's outbox in a database of yours: a transaction adds rows, and `docket outbox follow` makes a ticket, job or
-- case of each row that has been committed. `docket outbox install` applies this file, also over an earlier version.

select pg_advisory_xact_lock(hashtext('docket_outbox'));
do $$ begin assert current_setting('server_version_num')::int >= 130000, 'the outbox needs PostgreSQL 13'; end $$;
create schema if not exists docket_outbox;

-- With a row's number it is the key of a job, so that adding the job again changes nothing.
create table if not exists docket_outbox.identity (
  one boolean primary key default true check (one), outbox uuid not null default gen_random_uuid());
insert into docket_outbox.identity default values on conflict do nothing;

create sequence if not exists docket_outbox.number;
-- The part that takes new rows. A sequence, because it leaves no dead rows, and a transaction sees its newest value.
create sequence if not exists docket_outbox.current minvalue 0 maxvalue 3;
-- Deleted rows take space while any transaction may still see them, so tidy truncates parts that are done with.
create table if not exists docket_outbox.message (
  no bigint, part int, kind text not null, target text, id text not null, entry jsonb not null,
  bytes int not null generated always as (octet_length(entry::text)) stored, primary key (no, part)
) partition by list (part);
create table if not exists docket_outbox.message_0 partition of docket_outbox.message for values in (0);
create table if not exists docket_outbox.message_1 partition of docket_outbox.message for values in (1);
create table if not exists docket_outbox.message_2 partition of docket_outbox.message for values in (2);
create table if not exists docket_outbox.message_3 partition of docket_outbox.message for values in (3);

-- Rows that Docket has refused, and why: {code, status, detail}.
create table if not exists docket_outbox.refused (
  no bigint primary key, kind text not null, target text, id text not null, entry jsonb not null,
  problem jsonb not null, refused_at timestamptz not null default clock_timestamp());

create or replace function docket_outbox.add(kind text, target text, id text, entry jsonb, no bigint) returns bigint
language plpgsql as $$
begin
  if id is null then
    raise null_value_not_allowed using message = format('docket_outbox: a %s needs an id, and it is null', kind);
  end if;
  insert into docket_outbox.message (no, part, kind, target, id, entry)
    values (no, (select last_value from docket_outbox.current), kind, target, id, entry);
  perform pg_notify('docket_outbox', '');
  return no;
end $$;

-- The options of a call. What its arguments say is not said there too: one of the two would be ignored.
create or replace function docket_outbox.options(given jsonb, name text, variadic parameters text[]) returns jsonb
language plpgsql as $$
declare parameter text;
begin
  foreach parameter in array parameters loop
    if given ? parameter then
      raise invalid_parameter_value using message = format(
        'docket_outbox: options may not have %s, which is %s %s', parameter,
        case parameter when 'key' then 'made by' else 'a parameter of' end, name);
    end if;
  end loop;
  return coalesce(given, '{}');
end $$;

-- The three for callers. They need no right but usage of the schema. Options are named as in the body over HTTP.
create or replace function docket_outbox.add_ticket(queue text, id text, body jsonb, options jsonb default '{}')
returns bigint language sql security definer set search_path = pg_catalog, pg_temp as $$
  select docket_outbox.add('ticket', queue, id,
    docket_outbox.options(options, 'add_ticket', 'queue', 'id', 'body') || jsonb_build_object('id', id, 'body', body),
    nextval('docket_outbox.number'))
$$;

create or replace function docket_outbox.add_job(topic text, id text, body jsonb, delay interval default '0',
  ttr interval default '60 s', options jsonb default '{}')
returns bigint language sql security definer set search_path = pg_catalog, pg_temp as $$
  select docket_outbox.add('job', topic, id,
      docket_outbox.options(options, 'add_job', 'topic', 'id', 'body', 'delay', 'TTR', 'ttr', 'key')
        || jsonb_build_object('topic', topic, 'id', id, 'body', body, 'delay', extract(epoch from delay),
          'TTR', extract(epoch from ttr), 'key', concat(i.outbox, '/', n.no)), n.no)
    from docket_outbox.identity i, nextval('docket_outbox.number') as n (no)
$$;

create or replace function docket_outbox.add_case(court text, id text, parties jsonb, body jsonb,
  options jsonb default '{}')
returns bigint language sql security definer set search_path = pg_catalog, pg_temp as $$
  select docket_outbox.add('case', court, id,
    docket_outbox.options(options, 'add_case', 'court', 'id', 'parties', 'body')
      || jsonb_build_object('id', id, 'parties', parties, 'body', body),
    nextval('docket_outbox.number'))
$$;

-- Sends refused rows of an id again, as the same rows. Returns how many.
create or replace function docket_outbox.retry(id text) returns bigint language sql as $$
  with again as (delete from docket_outbox.refused r where r.id = retry.id returning r.*)
  select count(docket_outbox.add(a.kind, a.target, a.id, a.entry, a.no)) from again a
$$;

-- Locks up to 1,000 rows after a number, and gives those that have 1 MB together; rows that others have locked are
-- passed by. By the index, whatever the statistics say: a sort reads all rows.
create or replace function docket_outbox.take(after bigint)
returns table (no bigint, kind text, target text, id text, entry text)
language sql set jit = off set enable_sort = off set enable_seqscan = off as $$
  with locked as (
    select m.* from docket_outbox.message m where m.no > after order by m.no limit 1000 for update skip locked),
  sized as (select l.*, sum(l.bytes) over (order by l.no) - l.bytes as before from locked l)
  -- what no server takes is not read: blanks are refused by their size
  select s.no, s.kind, s.target, s.id, case when s.bytes < 8388608 then s.entry::text else repeat(' ', 8388608) end
    from sized s
   where s.before = 0 or s.before + s.bytes < 1000000 order by s.no
$$;

-- Deletes rows that were answered, and keeps those with a problem: [{no, problem}].
create or replace function docket_outbox.finish(answered bigint[], problems jsonb) returns void language sql as $$
  with gone as (delete from docket_outbox.message m where m.no = any (answered) returning m.*)
  insert into docket_outbox.refused (no, kind, target, id, entry, problem)
    select g.no, g.kind, g.target, g.id, g.entry, p.problem
      from gone g join jsonb_to_recordset(problems) as p (no bigint, problem jsonb) on p.no = g.no
$$;

-- Truncates parts that are done with, and lets an empty one take new rows where the current one has grown. A part to
-- which an open transaction has added rows is locked by it, and left for later.
create or replace function docket_outbox.tidy() returns void language plpgsql set lock_timeout = '20ms' as $$
declare
  growing constant int := (select last_value from docket_outbox.current);
  part regclass; is_empty boolean; next int;
begin
  for n in 0..3 loop
    part := format('docket_outbox.message_%s', n);
    if pg_relation_size(part) = 0 then
      next := n;
    elsif n <> growing then
      begin
        execute format('lock table %s in access exclusive mode', part);
        execute format('select not exists (select from %s)', part) into is_empty;
        if is_empty then execute format('truncate %s', part); end if;
      exception when lock_not_available then null;
      end;
    end if;
  end loop;
  if pg_total_relation_size(format('docket_outbox.message_%s', growing)::regclass) > 4 * 1024 * 1024 then
    perform setval('docket_outbox.current', next) where next is not null;
  end if;
end $$;
