-- The reports of an order are erased with the order.
CREATE INDEX CONCURRENTLY IF NOT EXISTS fleet_reports_of_order ON fleet_reports (order_id);
