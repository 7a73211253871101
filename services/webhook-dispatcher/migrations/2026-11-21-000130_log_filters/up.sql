-- The log by the business's own name for an order: the question that owners ask most.
CREATE INDEX events_by_reference ON events (business_id, order_reference) WHERE order_reference IS NOT NULL;
-- What did not arrive, for the log and for sending it again. Few, and costs nothing while all goes well.
CREATE INDEX deliveries_unsuccessful ON deliveries (business_id, endpoint_id, id) WHERE state IN ('failed', 'discarded');
