-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS endpoint_notices_key ON endpoint_notices (endpoint_id, failing_since, percent, business_id);
