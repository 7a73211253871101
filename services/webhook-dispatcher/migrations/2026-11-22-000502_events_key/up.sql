CREATE UNIQUE INDEX CONCURRENTLY events_key ON events (event_id, business_id);
