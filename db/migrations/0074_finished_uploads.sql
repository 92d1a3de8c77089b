-- An upload of jurors in several parts stays known when it is finished, so that its last part can be sent again without replacing
-- all jurors by that part (S2.3). Those that go on now have had a part that was not the last.
alter table juror_list add column in_parts boolean not null default true, add column final_hash bytea;
alter table juror_list alter column in_parts drop default;
comment on column juror_list.in_parts is 'Whether it had a part that was not the last';
comment on column juror_list.final_hash is 'Of the last part of an upload that is finished; null while it goes on';
