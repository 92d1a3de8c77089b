/**
 * SQL for a table `lease` of all holds of tickets and jobs, live and past, as the log has them: who held what of which
 * queue, from when to when, and why it ended.
 */
export const LEASES = `(
  select g.kind, g.item_id, g.seq, g.actor as holder, g.at as granted_at, e.at as ended_at,
         case when e.seq is not null then lease_end(e.type, e.actor, g.actor) end as why,
         (select coalesce(q.data ->> 'to', q.data ->> 'queue') from event q
           where q.kind = g.kind and q.item_id = g.item_id and q.seq < g.seq and q.type in ('created', 'transferred')
           order by q.seq desc limit 1) as queue
    from event g left join event e on e.kind = g.kind and e.item_id = g.item_id and e.ends = g.seq
   where g.token is not null and g.type <> 'refused') lease`;
