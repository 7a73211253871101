-- An order belongs to one business. This constraint detects events of another business.
-- compatible with release 1: the former key says the same.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS order_streams_order_id ON order_streams (order_id);
