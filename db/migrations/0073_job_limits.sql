-- What a job may bring along where its topic says less, as lmstfy's jobs do (docs/lmstfy.md). Its time to live is its deadline.
alter table item add column max_attempts integer check (max_attempts >= 1), add column attributes jsonb;
comment on column item.max_attempts is 'of jobs: how often it is handed out before it is buried; null: as often as its topic says';
comment on column item.attributes is 'of jobs: texts by name that are handed out beside the body';
