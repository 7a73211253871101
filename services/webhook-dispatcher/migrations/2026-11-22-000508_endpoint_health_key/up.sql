-- compatible with release 1: rows that satisfy the former key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS endpoint_health_key ON endpoint_health (endpoint_id, business_id);
