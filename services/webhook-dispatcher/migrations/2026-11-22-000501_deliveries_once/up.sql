-- compatible with release 1: rows that satisfy the former key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS deliveries_once ON deliveries (event_id, endpoint_id, business_id);
