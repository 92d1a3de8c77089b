-- Counts are kept as sums, and what has come since as lines (decision 0006): summing up costs as much as has changed, not as much
-- as there is. A move is one line, which counts for one state and against another.
alter table tally rename to tally_line;
alter index tally_queue rename to tally_line_queue;
alter table tally_line add column was text;
comment on column tally_line.was is 'the state that as many have left; null: none';
create table tally_sum (
  kind   text not null,
  queue  text not null,
  what   text not null,
  n      bigint not null,
  primary key (kind, queue, what)
) with (fillfactor = 70);
comment on table tally_sum is 'sums of the lines that are no longer there, so that a count is their sum and that of the lines';

create view tally as
  select kind, queue, what, n, null::timestamptz as at from tally_sum
   union all
  select kind, queue, what, n, at from tally_line
   union all
  select kind, queue, was, -n, null from tally_line where was is not null;
