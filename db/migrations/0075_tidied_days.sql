-- What jurors did counts on its day, and an operator's command is known as long as it may be asked for again. By these indexes maintenance
-- finds the old ones (db/queries/runtime.sql, forget_juror_days and forget_commands).
create index juror_day_day on juror_day (day);
create index operator_command_at on operator_command (at);
