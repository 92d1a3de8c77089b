-- The ids of schedules in Temporal name their topic up to the first slash, so that two schedules never share one: those
-- of topics with a slash are made again under their new ids.
insert into resync (what, parent, name) select 'schedule', topic, name from schedule where topic ~ '[%/]';
