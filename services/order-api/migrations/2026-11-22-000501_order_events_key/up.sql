CREATE UNIQUE INDEX CONCURRENTLY order_events_key ON order_events (order_id, sequence, business_id);
