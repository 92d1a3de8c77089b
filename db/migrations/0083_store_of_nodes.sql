-- The store that a process publishes to: Temporal's id of its namespace and PostgreSQL's timeline, as in
-- reconciliation.store. A worker with another namespace than the others passes for healthy by itself; docket doctor
-- compares them.
alter table node add column store text;
