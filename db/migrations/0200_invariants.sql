-- Now asked by the triggers of item (db/functions/invariants.sql).
alter table item
  drop constraint item_buried_in_order, drop constraint item_due_has_wake, drop constraint item_final_has_end,
  drop constraint item_final_lacks_no_jurors, drop constraint item_final_sleeps, drop constraint item_for_whom,
  drop constraint item_held_has_lease, drop constraint item_held_has_slot, drop constraint item_lease_seconds_check,
  drop constraint item_open_has_no_delivery, drop constraint item_settled_has_result, drop constraint item_state,
  drop constraint item_task_has_stock;
