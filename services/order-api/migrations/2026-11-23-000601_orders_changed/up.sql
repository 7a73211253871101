-- For the list of a business's changes after a time, which is sorted like this index.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_changed ON orders (business_id, mode, updated_at, id)
    WHERE placement = 'placed';
