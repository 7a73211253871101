ALTER TABLE recoveries DROP COLUMN looked_through_id, DROP COLUMN counted_id;
