-- The cash of an order is one business's.
CREATE UNIQUE INDEX CONCURRENTLY cash_order_id ON cash (order_id);
