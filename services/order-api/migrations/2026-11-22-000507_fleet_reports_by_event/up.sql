-- The fleet's own ids are unique whatever the business, as they were.
-- borne by release 1: the former key says the same.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS fleet_reports_event_id ON fleet_reports (event_id);
