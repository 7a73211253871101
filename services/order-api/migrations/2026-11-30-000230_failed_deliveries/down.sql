ALTER TABLE orders DROP CONSTRAINT orders_pickup_is_final, DROP COLUMN after_failure;
