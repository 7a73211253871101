ALTER TABLE closings DROP COLUMN ending_at;
