-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS order_streams_key ON order_streams (order_id, business_id);
