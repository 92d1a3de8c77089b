-- One collation for all text. PL/pgSQL compiles a function for the collation of its arguments: called with a value of a
-- "C" column, a condition on a column of another collation left the index, and each next ticket read all that its queue
-- held. Indexes of these columns are built anew; no table is rewritten. Columns that a generated one is computed
-- from cannot be changed, and are in no index.
do $$
declare
  -- a column that a view or a trigger's condition names cannot be changed
  v_again text[] := array[
    'create view driven as ' || pg_get_viewdef('driven'), 'create view tally as ' || pg_get_viewdef('tally'),
    (select pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'lease'::regclass and tgname = 'case_lease_ended')];
  v_made text;
  t record;
begin
  drop view driven, tally;
  drop trigger case_lease_ended on lease;
  for t in
    select a.attrelid::regclass as relation,
           string_agg(format('alter column %I type %s collate "C"', a.attname, format_type(a.atttypid, a.atttypmod)),
                      ', ' order by a.attnum) as changes
      from pg_attribute a
     -- not all of the schema: it may have tables of others
     where a.attrelid in (
       select name::regclass from unnest('{
         admin_log, api_key, case_file, court, delivery, delivery_start, event, exposure, feed, feed_hole, freed_juror,
         item, juror, juror_day, juror_list, juror_record, lease, log_shard, look_back, member, node, notice,
         operator_command, parked, queue, reconciliation, resync, review, review_base, review_body, review_callback,
         review_index, sample, sample_due, schedule, session, stream_ticket, taken_task, tally_line, tally_sum, task,
         task_group, task_template, task_template_version, unpublished, vote}'::text[]) as name)
       and a.attnum > 0 and not a.attisdropped
       and a.attcollation = 'pg_catalog."default"'::regcollation and a.attgenerated = ''
       and not exists (
         select from pg_depend d join pg_attrdef f on f.oid = d.objid and d.classid = 'pg_attrdef'::regclass
           join pg_attribute g on g.attrelid = f.adrelid and g.attnum = f.adnum and g.attgenerated <> ''
          where d.refclassid = 'pg_class'::regclass and d.refobjid = a.attrelid and d.refobjsubid = a.attnum)
     group by a.attrelid
     order by a.attrelid::regclass::text
  loop
    execute format('alter table %s %s', t.relation, t.changes);
  end loop;
  foreach v_made in array v_again loop execute v_made; end loop;
end $$;
comment on column item.next_wanted is 'not read any more; processes of the release before write it';
