-- Replaces the index that finds the reports of an order.
-- compatible with release 1: rows that satisfy its key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS fleet_reports_key ON fleet_reports (order_id, event_id, business_id);
