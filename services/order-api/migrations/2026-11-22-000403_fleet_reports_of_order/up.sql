-- What the fleet said of an order is hashed when the order is erased.
CREATE INDEX CONCURRENTLY IF NOT EXISTS fleet_reports_of_order ON fleet_reports (order_id);
