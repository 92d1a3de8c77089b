-- Where most items are tickets, statistics may know of no case or job. A plan then finds one by its id by going through all that one of
-- these indexes has. From `kind = 'case'` alone, neither of them is to be had any more.
drop index case_created;
create index case_created on item (queue, created_at, seq) where kind || '' = 'case';
drop index item_job_number;
create unique index item_job_number on item (seq) where kind || '' = 'job';
