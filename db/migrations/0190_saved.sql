-- What people keep under a name: filters of lists, answers of a queue's form (macros), how they want things shown.
alter table saved_view rename to saved;
alter table saved rename column filter to value;
alter table saved add column kind text collate "C" not null default 'view',
                  add column queue text collate "C" not null default '';
alter table saved alter column kind drop default, alter column queue drop default,
                  drop constraint saved_view_pkey, add primary key (kind, owner, queue, name),
                  add check (kind in ('view', 'macro', 'defaults'));
comment on column saved.queue is 'that a macro answers for; empty: none';
