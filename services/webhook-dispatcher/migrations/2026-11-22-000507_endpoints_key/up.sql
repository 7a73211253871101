CREATE UNIQUE INDEX CONCURRENTLY endpoints_key ON endpoints (id, business_id);
