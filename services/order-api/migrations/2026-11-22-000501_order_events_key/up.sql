-- compatible with release 1: rows that satisfy its key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS order_events_key ON order_events (order_id, sequence, business_id);
