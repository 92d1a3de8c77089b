-- Invitations that were not delivered count as ended, not as deliveries that have failed: no outcome is missing.
insert into tally_line (kind, queue, what, n)
select 'delivery', 'case', w.what, w.sign * count(*)
  from delivery d cross join (values ('failed', -1), ('ended', 1)) w (what, sign)
 where d.type = 'case.invited' and d.state = 'failed' group by w.what, w.sign
union all
select kind, queue, 'delivery_failed', -count(*) from delivery
 where type = 'case.invited' and state = 'failed' and queue <> '' group by kind, queue;
