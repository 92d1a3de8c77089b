-- Who chooses from a queue first does what is due in it (advance_due). The index is of an expression, because a planner
-- would take the index of all queues' wake times otherwise, by statistics of a time when little was due.
create index item_due on item (queue, kind, (coalesce(wake_at, 'infinity')))
 where coalesce(wake_at, 'infinity') <> 'infinity';
