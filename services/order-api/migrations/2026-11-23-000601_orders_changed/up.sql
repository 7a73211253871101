-- A business that asks what changed after a time must not read all of its orders. Its list is in the order of this index.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_changed ON orders (business_id, mode, updated_at, id)
    WHERE placement = 'placed';
