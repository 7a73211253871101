-- compatible with release 1: rows that satisfy the former key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS endpoint_notices_key ON endpoint_notices (endpoint_id, failing_since, percent, business_id);
