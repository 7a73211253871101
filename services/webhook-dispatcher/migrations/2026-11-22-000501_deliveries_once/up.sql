-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS deliveries_once ON deliveries (event_id, endpoint_id, business_id);
