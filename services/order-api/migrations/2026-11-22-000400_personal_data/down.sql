DROP TABLE erasures;
ALTER TABLE orders DROP COLUMN personal_data_erased_at;
