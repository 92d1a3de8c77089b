-- A decision asks whether any queue has its decisions drawn.
create index queue_draws on queue (kind) where second is not null or assist is not null;
