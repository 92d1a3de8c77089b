-- A target for the time until tickets are decided, and leases as long as decisions take. No table is rewritten: the new
-- columns are null, or constant, in all rows.
alter table queue add column service_seconds double precision check (service_seconds > 0);
alter table queue add column lease text collate "C" not null default 'fixed';
alter table queue add constraint queue_lease check (lease in ('fixed', 'adaptive'));
alter table queue add column adaptive_seconds double precision check (adaptive_seconds > 0);
comment on column queue.service_seconds is 'tickets: the target from the first availability to the decision';
comment on column queue.adaptive_seconds is
  'length of a lease now, by what decisions have taken; null: lease_seconds, as too few are known, or it is fixed';
alter table item add column overdue_at timestamptz;
comment on column item.overdue_at is 'when its queue''s target passes; infinity: that is in its history';
-- Open tickets beyond their target, for counts.
create index item_overdue on item (queue, first_available_at) where overdue_at = 'infinity' and ended_at is null;
