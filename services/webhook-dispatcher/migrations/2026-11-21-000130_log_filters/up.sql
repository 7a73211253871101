-- The log by order reference, the most common filter.
CREATE INDEX events_by_reference ON events (business_id, order_reference) WHERE order_reference IS NOT NULL;
-- Unsuccessful deliveries, for the log and for recoveries. Few, and free of cost for successful ones.
CREATE INDEX deliveries_unsuccessful ON deliveries (business_id, endpoint_id, id) WHERE state IN ('failed', 'discarded');
