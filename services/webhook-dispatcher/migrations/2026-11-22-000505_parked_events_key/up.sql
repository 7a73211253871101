CREATE UNIQUE INDEX CONCURRENTLY parked_events_key ON parked_events (order_id, sequence, business_id);
