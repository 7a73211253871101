-- What was told of an order: its events, and through them their deliveries. One entry per event, where an index on
-- deliveries would take one per endpoint.
CREATE INDEX events_of_order ON events (order_id) WHERE order_id IS NOT NULL;
