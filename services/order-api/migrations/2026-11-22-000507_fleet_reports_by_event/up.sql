-- The event ids of the fleet stay unique across businesses.
-- compatible with release 1: its key is the same.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS fleet_reports_event_id ON fleet_reports (event_id);
