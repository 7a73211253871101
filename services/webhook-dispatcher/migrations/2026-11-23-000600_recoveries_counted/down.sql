ALTER TABLE recoveries DROP COLUMN counted_id;
