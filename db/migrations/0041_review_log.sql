-- What a review was after any line of its log follows from the review as it is and the lines since then; nothing of it is
-- stored with each line, nor with each delivery.

alter table review_callback add column before_time timestamptz;
comment on column review_callback.before_time is 'the target''s audit time before this line, as `before` is its status';
update review_callback c set before_time = p.before_time
  from (select arrival, lag(audit_time) over (partition by review_id, kind, target_id order by seq) as before_time
          from review_callback where outcome = 'applied') p
 where c.arrival = p.arrival and p.before_time is not null;
create index review_callback_edit on review_callback (review_id, seq) where kind = 'edit';

-- Bodies that an edit replaced while messages with them could still be sent.
create table review_body (
  review_id text not null collate "C",
  -- the last log line of its time
  until_seq integer not null,
  body      json,
  primary key (review_id, until_seq)
);

-- How many lines of which outcome a day has (S1.4): rows that add up, like all counts (`tally`, decision 6).
insert into tally (kind, queue, what, n)
select 'review', to_char(applied_at at time zone 'UTC', 'YYYY-MM-DD'), outcome, count(*)
  from review_callback where seq is not null group by 2, 3;

-- it gets an argument more; an older process's calls, without it, fit the new one
drop function if exists receive_callbacks(text[], text[], text[], text[], integer[], timestamptz[], double precision, text[]);
