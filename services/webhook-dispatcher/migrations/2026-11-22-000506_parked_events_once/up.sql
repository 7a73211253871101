CREATE UNIQUE INDEX CONCURRENTLY parked_events_once ON parked_events (event_id, business_id);
