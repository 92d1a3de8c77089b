-- Adds the items of a JSON array, in its order; ids that exist already are left out of the answer, so that a repeat
-- changes nothing. json, not jsonb: bodies keep their text. An item without an id is named after its queue and number,
-- which are drawn in that order, too; a number whose name is taken is passed over. The key of an add goes with the run
-- that it began (db/functions/job-runs.sql).
create or replace function add_items(p_kind text, p_items json, p_keyed boolean) returns setof item
language plpgsql as $$
begin
  return query
  insert into item (seq, kind, id, queue, state, priority, base_priority, rank, body, content_hash, requires,
                    requires_key, base_requires, rules_due_at, exclude, callback, subject,
                    category, own_category, for_person, for_until,
                    own_deadline, version, created_at, available_at, first_available_at, deadline_at,
                    escalates_at, overdue_at, wake_at, lease_seconds, delay_seconds, body_bytes,
                    event_seq, last_event, last_actor, last_data, updated_at)
  select x.seq, p_kind, coalesce(x.id, q.name || ':' || x.seq), q.name, s.state, x.priority, x.priority,
         item_rank(p_kind, x.priority, t.available_at, q.level_seconds, false),
         coalesce(x.body, 'null'), decode(x.hash, 'hex'),
         coalesce(x.requires, '{}'), case when x.requires <> '{}' then requires_key(x.requires) else '' end,
         coalesce(x.requires, '{}'), case when q.rules <> '[]' then t.now end,
         coalesce(x.exclude, '{}'), x.callback, x.subject,
         coalesce(x.category, case when q.category_from is not null then category_in(x.body, q.category_from) end),
         x.category is not null, x.for, u.until,
         x."deadlineSeconds" is not null, nextval('item_version'),
         t.created_at, t.available_at, t.available_at, t.deadline_at,
         e.escalates_at, e.overdue_at,
         item_wake(s.state, t.available_at, null, t.deadline_at,
                   least(e.escalates_at, e.overdue_at, case when s.state = 'ready' then u.until end)),
         x."leaseSeconds", x."delaySeconds", x."bodyBytes",
         1, 'created', x.actor, json_build_object('queue', q.name, 'priority', x.priority), t.now
    from (select *, case when id is null then free_number(p_kind, queue) else nextval('item_seq_seq') end as seq
            from json_to_recordset(p_items) as n (
              id text, queue text, priority bigint, body json, hash text, requires text[], exclude text[],
              callback jsonb, "delaySeconds" double precision, "deadlineSeconds" double precision,
              "createdAt" timestamptz, "leaseSeconds" double precision, "bodyBytes" integer, actor text, subject text,
              category text, "for" text, "forSeconds" double precision)) x
    join queue q on q.kind = p_kind and q.name = x.queue
   cross join (select clock_timestamp() as now) c
   cross join lateral (
     select c.now, date_trunc('milliseconds', coalesce(x."createdAt", c.now)) as created_at,
            coalesce(x."createdAt", c.now) + make_interval(secs => x."delaySeconds") as available_at,
            coalesce(x."createdAt", c.now)
              + make_interval(secs => coalesce(x."deadlineSeconds", q.deadline_seconds)) as deadline_at) t
   cross join lateral (select case when t.available_at > t.now then 'delayed' else 'ready' end as state) s
   cross join lateral (
     select next_escalation(q.escalations, t.available_at, -1) as escalates_at,
            t.available_at + make_interval(secs => q.service_seconds) as overdue_at) e
   cross join lateral (select t.available_at + make_interval(secs => x."forSeconds") as until) u
   order by x.seq
  on conflict (kind, id) do nothing
  returning *;
  if p_keyed then
    insert into job_key (id, key, run)
    select i.id, x.key, i.run from json_to_recordset(p_items) as x (id text, key text)
     cross join lateral (
       -- those that this transaction has added
       select * from item where kind = p_kind and id = x.id and xmin = pg_current_xact_id()::xid offset 0) i
     where x.key is not null;
  end if;
end $$;
