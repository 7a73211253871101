-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS parked_events_key ON parked_events (order_id, sequence, business_id);
