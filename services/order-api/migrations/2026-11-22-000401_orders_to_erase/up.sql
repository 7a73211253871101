-- Orders for retention. A live order is added when it ends, so that placing it costs nothing. A test order is added
-- immediately, because most test orders never end.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_to_erase ON orders (updated_at, id)
    WHERE personal_data_erased_at IS NULL
    AND (status IN ('delivered', 'failed', 'cancelled', 'returned') OR placement = 'released' OR mode = 'test');
