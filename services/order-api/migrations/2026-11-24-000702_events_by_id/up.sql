-- For one event of a business, and for a position that is given as an event's id.
CREATE INDEX CONCURRENTLY IF NOT EXISTS order_events_by_id ON order_events (business_id, event_id);
