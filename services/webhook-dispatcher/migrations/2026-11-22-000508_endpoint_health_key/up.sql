-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS endpoint_health_key ON endpoint_health (endpoint_id, business_id);
