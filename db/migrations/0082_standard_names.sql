-- Columns of item and court, their indexes and checks, by standard terms.
alter table item rename column telling to delivery_pending;
alter table item rename column room to capacity;
alter table item rename column inviting to lacks_jurors;
alter table court rename column around to random_start;
alter view driven rename column telling to delivery_pending;
alter view driven rename column inviting to lacks_jurors;
alter index item_telling rename to item_delivery_pending;
alter index item_room rename to item_capacity;
alter index item_inviting rename to item_lacks_jurors;
alter table item rename constraint item_open_is_not_told to item_open_has_no_delivery;
alter table item rename constraint item_final_invites_nobody to item_final_lacks_no_jurors;
comment on column item.capacity is 'how many more may hold it; null: it has one holder at most';
comment on column item.lacks_jurors is 'its workflow has jurors to invite';
comment on column court.random_start is 'claims begin at a random place of the order instead of at its head';
