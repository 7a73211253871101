-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS simulations_key ON simulations (order_id, business_id);
