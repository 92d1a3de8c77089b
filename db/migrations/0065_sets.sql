-- What functions pass on as arrays, so that a statement serves many callers or items.

-- A line in an item's history. `done`, of cases only: the person whom the item's row excludes from then on.
create type item_line as (id text, actor text, data json, done text);

-- A client who asks for a task, and the occurrence that comes first for them; see next_tasks.
create type task_pull as (person text, uid text, token text, excluded text[], explain boolean, pick text);

-- A case that a juror is to hold.
create type case_hold as (id text, token text, juror text, person text, until timestamptz);
