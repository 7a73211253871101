-- compatible with release 1: rows that satisfy its key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS simulations_key ON simulations (order_id, business_id);
