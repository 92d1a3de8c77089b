-- Rules of a queue: JSON Schemas over its tickets that set priority and skills. They are evaluated outside the
-- database, so what waits for that is marked, and is not handed out before.
alter table queue add column rules jsonb not null default '[]';

alter table item
  -- as they were sent, which is what rules start from; null: added before there were rules
  add column base_priority bigint,
  add column base_requires text[],
  -- the rules that apply now; null: none ever did
  add column ruled jsonb,
  -- set by hand, which wins over rules from then on
  add column manual_priority boolean not null default false,
  add column manual_requires boolean not null default false,
  add column rules_due_at timestamptz;

create index item_rules_due on item (rules_due_at) where rules_due_at is not null and ended_at is null;
