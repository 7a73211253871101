-- The cash of an order belongs to one business.
-- compatible with release 1: the former key says the same.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS cash_order_id ON cash (order_id);
