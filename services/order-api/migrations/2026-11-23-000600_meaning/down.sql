ALTER TABLE orders DROP COLUMN meaning;
