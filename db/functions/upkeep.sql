-- Tables that have grown by half since the planner last looked get fresh statistics now. Autovacuum comes once a
-- minute, and until its first visit a planner that knows nothing of a new table takes any index for as good as the
-- right one (20,000 jobs in a new database: 19 ms a pop instead of 1).
create or replace function refresh_statistics() returns setof text language plpgsql as $$
declare
  v_table text;
begin
  if not pg_try_advisory_xact_lock(7236002) then return; end if;
  for v_table in
    select relname from pg_stat_user_tables
     where relname in ('item', 'event', 'lease', 'review', 'review_index', 'review_callback',
                       'case_file', 'vote', 'juror', 'exposure', 'task', 'member')
       and n_mod_since_analyze > 1000 + n_live_tup / 2
  loop
    execute format('analyze (skip_locked) %I', v_table);
    return next v_table;
  end loop;
end $$;
