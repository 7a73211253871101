-- For the failed deliveries that a business decides about. An order is added when it fails, so that placing it costs nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_after_failure ON orders (business_id, updated_at)
    WHERE mode = 'live' AND placement = 'placed' AND status = 'failed' AND picked_up;
