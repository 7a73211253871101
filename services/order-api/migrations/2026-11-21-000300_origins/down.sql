ALTER TABLE orders DROP COLUMN request_id, DROP COLUMN key_id;
