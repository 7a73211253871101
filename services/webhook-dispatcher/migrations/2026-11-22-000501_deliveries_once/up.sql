CREATE UNIQUE INDEX CONCURRENTLY deliveries_once ON deliveries (event_id, endpoint_id, business_id);
