-- Answers, too, what was reported of an order, for which there was an index of its own.
CREATE UNIQUE INDEX CONCURRENTLY fleet_reports_key ON fleet_reports (order_id, event_id, business_id);
