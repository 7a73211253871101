-- Finds the events of an order, and through them their deliveries. An index on deliveries would have one entry per
-- endpoint.
CREATE INDEX events_of_order ON events (order_id) WHERE order_id IS NOT NULL;
