-- Scans the tables without blocking others.
ALTER TABLE deliveries VALIDATE CONSTRAINT deliveries_event_fkey;
ALTER TABLE parked_events VALIDATE CONSTRAINT parked_events_order_fkey;
ALTER TABLE endpoint_health VALIDATE CONSTRAINT endpoint_health_endpoint_fkey;
ALTER TABLE endpoint_notices VALIDATE CONSTRAINT endpoint_notices_endpoint_fkey;
ALTER TABLE recoveries VALIDATE CONSTRAINT recoveries_endpoint_fkey;
