-- Only lmstfy's API gave a job a number of attempts and attributes of its own. Its jobs go by their topics from here on.
alter table item drop column max_attempts, drop column attributes;
