CREATE UNIQUE INDEX CONCURRENTLY endpoint_health_key ON endpoint_health (endpoint_id, business_id);
