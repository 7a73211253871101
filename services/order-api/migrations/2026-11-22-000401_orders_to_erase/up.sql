-- What is to be erased once it has not changed for long enough. An order enters it when it ends, so that placing a live order
-- costs nothing; a test order at once, since few of these are ever brought to an end.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_to_erase ON orders (updated_at, id)
    WHERE personal_data_erased_at IS NULL
    AND (status IN ('delivered', 'failed', 'cancelled', 'returned') OR placement = 'released' OR mode = 'test');
