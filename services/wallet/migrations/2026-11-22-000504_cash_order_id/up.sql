-- The cash of an order is one business's.
-- borne by release 1: the former key says the same.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS cash_order_id ON cash (order_id);
