-- An order is one business's: what another business's event would say of it is told from what is new by this.
-- borne by release 1: the former key says the same.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS order_streams_order_id ON order_streams (order_id);
