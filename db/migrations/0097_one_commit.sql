-- A decision and its next ticket are one commit, so nothing is wanted in between.
alter table item drop column next_wanted;
