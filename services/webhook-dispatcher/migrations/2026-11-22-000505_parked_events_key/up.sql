-- compatible with release 1: rows that satisfy the former key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS parked_events_key ON parked_events (order_id, sequence, business_id);
