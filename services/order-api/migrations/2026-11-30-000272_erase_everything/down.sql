ALTER TABLE erasures DROP COLUMN everything;
